// SPDX-License-Identifier: Apache-2.0
// Keeps of all GPU work what the counters of sampled launches are judged by: those launches, and
// the work next to each, in memory that does not grow.
#pragma once

#include "host/analysis/launch_metrics.hpp"
#include "model/records.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof::guest {

using namespace host;  // the arithmetic of reports

/// A launch around which counters ran, and the nearest work of its device that was not of it. No
/// other work can share a moment with the counters' window unless one of these does.
struct neighbored_launch {
  kernel_record first;        // of its kernels; of a whole graph with shape 0
  std::uint32_t kernels = 0;  // seen with its correlation
  struct neighbor {
    timestamp_ns moment;  // 0: none
    correlation_id correlation{};
  };
  neighbor before, after;            // end of kernels that began before it; beginning of others
  neighbor copy_before, copy_after;  // the same of copies and fills
  bool has_copies = false;           // of its own: it is a graph
};

/// One thread. Records come before the counters' readings, often by seconds, and only roughly in
/// order: what is kept of most is the latest few thousands.
class launch_neighbors {
 public:
  struct capacity {
    std::size_t recent = 4096;    // kernels of each device that are kept whole
    std::size_t launches = 4096;  // sampled ones, of each device
  };
  launch_neighbors() : launch_neighbors(capacity{}) {}
  explicit launch_neighbors(capacity limits) : limits_(limits) {}

  /// The launch with this correlation, which is none of those kept, is going to be read, or has
  /// been. True when its kernel has come already, and is one of the latest few hundreds.
  bool expect(correlation_id correlation);
  /// And one of all that are kept, which takes longer to find.
  bool expect_late(correlation_id correlation) { return expect(correlation, limits_.recent); }
  /// Whose kernel has not come since the last but one call of this is not expected any more.
  void forget_old_expectations();
  /// True when the kernel, or the whole graph with shape 0, is that of an expected launch.
  bool add(kernel_record const& kernel) {
    auto& device = of(kernel.device);
    place(device.launches, kernel);
    push(device.kernels, kernel);
    if (expected_with(kernel.correlation) == 0 || !take_expected(kernel.correlation)) return false;
    keep(device, kernel);
    return true;
  }
  /// Or a fill. Those of a graph are no neighbors of its launch.
  template <class Record>
  void add_copy(Record const& copy) {
    add_copy(copy.device, {copy.start, copy.start + copy.duration,
                           raw(copy.graph) != 0 ? copy.correlation : correlation_id{}});
  }

  /// nullptr when it was not seen, or too many others have been since.
  neighbored_launch const* find(correlation_id correlation) const noexcept;

  /// Shows the judge the launches of a reading, and who ran next to them. All of one call are
  /// judged together.
  void show(std::span<read_launch_record const> launches, launch_metrics& judge) const;

 private:
  struct seen_copy {
    timestamp_ns start, end;
    correlation_id of_graph{};  // its launch
  };
  template <class Work>
  struct ring {
    std::vector<Work> work;
    std::size_t next = 0;
    neighbored_launch::neighbor gone;  // the latest end of what made room
  };
  struct seen_device {
    device_id id{};
    ring<kernel_record> kernels;
    ring<seen_copy> copies;
    std::vector<neighbored_launch> launches;  // by start
  };

  seen_device& of(device_id device) {
    if (last_ < devices_.size() && devices_[last_].id == device) return devices_[last_];
    return find_or_make(device);
  }
  seen_device& find_or_make(device_id device);
  bool expect(correlation_id correlation, std::size_t looked_back);
  void add_copy(device_id of_device, seen_copy const& copy);
  static void note_copy(neighbored_launch& launch, seen_copy const& copy);
  std::uint16_t& expected_with(correlation_id correlation) noexcept {
    return expected_by_low_bits_[raw(correlation) % expected_by_low_bits_.size()];
  }
  bool take_expected(correlation_id correlation);
  void keep(seen_device& device, kernel_record const& kernel);

  void push(ring<kernel_record>& recent, kernel_record const& kernel) {
    auto& place = recent.work[recent.next];
    if (auto const end = place.start + place.duration; end > recent.gone.moment)
      recent.gone = {end, place.correlation};
    place = kernel;
    recent.next = (recent.next + 1) % recent.work.size();
  }
  /// Nearly always it is later than the last sampled launch and its neighbor.
  static void place(std::vector<neighbored_launch>& launches, kernel_record const& kernel) {
    if (launches.empty()) return;
    auto const& last = launches.back();
    if (kernel.start >= last.after.moment && last.after.moment.value != 0 &&
        kernel.correlation != last.first.correlation)
      return;
    place_slowly(launches, kernel);
  }
  static void place_slowly(std::vector<neighbored_launch>& launches, kernel_record const& kernel);

  capacity const limits_;
  std::vector<seen_device> devices_;
  std::size_t last_ = 0;                  // of devices_
  mutable std::size_t last_found_ = 0;    // of the launches: they are asked for in their order
  std::vector<correlation_id> expected_;  // whose kernel has not been seen
  std::size_t old_expectations_ = 0;      // the first of them
  // How many of them: nearly all kernels are none of them, and most are told by this.
  std::array<std::uint16_t, 4096> expected_by_low_bits_{};
};

}  // namespace gpuprof::guest

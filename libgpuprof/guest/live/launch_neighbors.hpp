// SPDX-License-Identifier: Apache-2.0
// Keeps sampled launches and the work next to each, in memory that does not grow. Their counters
// are judged by these.
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

/// A launch around which counters ran, and the nearest other work on its device. If any other work
/// overlaps the counters' window, so does one of these neighbors.
struct neighbored_launch {
  kernel_record first;        // its first kernel; the whole graph if shape is 0
  std::uint32_t kernels = 0;  // number of kernels with its correlation
  struct neighbor {
    timestamp_ns moment;  // 0: none
    correlation_id correlation{};
  };
  neighbor before, after;            // end of earlier kernels; start of later ones
  neighbor copy_before, copy_after;  // the same for copies and fills
  bool has_copies = false;           // the launch is a graph with copies
};

/// For one thread. Records arrive before the counters' readings, often by seconds, and only roughly
/// in order. So the latest few thousand are kept.
class launch_neighbors {
 public:
  struct capacity {
    std::size_t recent = 4096;    // kernels kept for each device
    std::size_t launches = 4096;  // sampled launches kept for each device
  };
  launch_neighbors() : launch_neighbors(capacity{}) {}
  explicit launch_neighbors(capacity limits) : limits_(limits) {}

  /// Announces that the launch with this correlation, which is not kept yet, will be read or has
  /// been read. Returns true if its kernel is one of the latest few hundred.
  bool expect(correlation_id correlation);
  /// Searches all kernels that are kept, which takes longer.
  bool expect_late(correlation_id correlation) { return expect(correlation, limits_.recent); }
  /// Forgets launches whose kernel has not come since the call before the last one.
  void forget_old_expectations();
  /// Returns true if the kernel, or the whole graph with shape 0, belongs to an expected launch.
  bool add(kernel_record const& kernel) {
    auto& device = of(kernel.device);
    place(device.launches, kernel);
    push(device.kernels, kernel);
    if (expected_with(kernel.correlation) == 0 || !take_expected(kernel.correlation)) return false;
    keep(device, kernel);
    return true;
  }
  /// Adds a copy or a fill. Copies in a graph are not neighbors of its launch.
  template <class Record>
  void add_copy(Record const& copy) {
    add_copy(copy.device, {copy.start, copy.start + copy.duration,
                           raw(copy.graph) != 0 ? copy.correlation : correlation_id{}});
  }

  /// Returns nullptr if the launch was not seen, or too many others came after it.
  neighbored_launch const* find(correlation_id correlation) const noexcept;

  /// Shows the judge the launches of a reading and their neighbors. All launches of one call are
  /// judged together.
  void show(std::span<read_launch_record const> launches, launch_metrics& judge) const;

 private:
  struct seen_copy {
    timestamp_ns start, end;
    correlation_id of_graph{};  // launch of the graph that contains it
  };
  template <class Work>
  struct ring {
    std::vector<Work> work;
    std::size_t next = 0;
    neighbored_launch::neighbor gone;  // latest end of the replaced entries
  };
  struct seen_device {
    device_id id{};
    ring<kernel_record> kernels;
    ring<seen_copy> copies;
    std::vector<neighbored_launch> launches;  // sorted by start
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
  /// Usually the kernel starts after the last sampled launch and its neighbor, so nothing changes.
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
  std::size_t last_ = 0;                  // index into `devices_`
  mutable std::size_t last_found_ = 0;    // index into `launches`: callers ask in order
  std::vector<correlation_id> expected_;  // launches whose kernel has not been seen
  std::size_t old_expectations_ = 0;      // length of the old part at the front
  // Number of expected launches by the low bits of their correlation. A zero settles most kernels
  // without a search.
  std::array<std::uint16_t, 4096> expected_by_low_bits_{};
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Keeps the launches around which counters are read, and the work that ran next to each, to judge
// later if anything else ran in the time of a reading.
#pragma once

#include "model/gpu_work.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

namespace gpuprof::guest {

/// No other work of the device shares a moment with the launch unless one of its neighbors does.
struct read_launch {
  struct neighbors {
    timestamp_ns before;  // latest end of work that began before the launch; 0: none
    timestamp_ns after;   // earliest start of work that began after it; 0: none
    bool are_in(timestamp_ns opened, timestamp_ns closed) const noexcept {
      return before >= opened || (after.value != 0 && after <= closed);
    }
  };
  kernel_record first;  // of its kernels; of a whole graph with shape 0
  std::uint32_t kernels = 0;
  std::uint64_t ns = 0;          // of all of them
  bool has_copies = false;       // of its own
  bool counts_as_graph = false;  // its kernels have been added to the sums as one launch
  neighbors of_kernels, of_copies;

  /// Nothing if there are several kernels of no graph: the correlation is not that of one launch.
  std::optional<workload_id> workload() const noexcept;
};

/// One thread. Readings come seconds after the records of their launches, and records only roughly
/// in order, so the latest few thousand are kept.
class read_launches {
 public:
  struct capacity {
    std::size_t recent = 4096;    // pieces of work of each device
    std::size_t launches = 4096;  // that were read, of each device
    std::size_t expected = 4096;  // whose kernel has not come
  };
  explicit read_launches(capacity limits) : limits_(limits) {}

  /// The launch is being read. Its kernel has not come, or is one of the latest few hundred.
  /// `is_late`: it may be any of the recent ones, which takes longer to find.
  void expect(correlation_id launch, bool is_late = false);
  /// A launch whose kernel has not come since the last but one call is not expected any more.
  void forget_old_expectations();

  /// `counts_as_graph`: it has been added to the sums as a part of its graph, which is one
  /// workload.
  void add(kernel_record const& kernel, bool counts_as_graph) {
    add(kernel, false, counts_as_graph);
  }
  template <class Record>
  void add_copy(Record const& copy) {  // or a fill
    kernel_record work;
    work.device = copy.device;
    work.start = copy.start;
    work.duration = copy.duration;
    work.graph = copy.graph;
    work.correlation = copy.correlation;
    add(work, true, false);
  }

  /// nullptr if it was not seen, or too many others have been since.
  read_launch const* find(correlation_id launch) const noexcept;

 private:
  struct piece {
    kernel_record work;
    bool is_copy = false, counts_as_graph = false;
  };
  struct seen_device {
    device_id id{};
    std::vector<piece> recent;  // a ring
    std::size_t next = 0;
    timestamp_ns gone, gone_copies;     // latest end of what made room in the ring
    std::vector<read_launch> launches;  // by start
  };
  seen_device& of(device_id device);
  void add(kernel_record const& work, bool is_copy, bool counts_as_graph);
  static void note(read_launch& launch, kernel_record const& work, bool is_copy);
  void keep(seen_device& device, piece const& kernel);

  capacity const limits_;
  std::vector<seen_device> devices_;
  std::unordered_set<std::uint32_t> expected_, long_expected_;  // correlations
};

}  // namespace gpuprof::guest

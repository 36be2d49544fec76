// SPDX-License-Identifier: Apache-2.0
// Adds up how often and how long each workload ran, in all and in the ranges of each name, in
// memory that does not grow.
#pragma once

#include "base/time.hpp"
#include "model/gpu_work.hpp"
#include "model/records.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace gpuprof::guest {

/// Numbers keys from 1 in the order in which they come, up to a capacity. Allocates nothing after
/// its construction.
class key_numbers {
 public:
  struct numbered {
    std::uint32_t number = 0;  // 0: there was no room
    bool is_new = false;
  };
  explicit key_numbers(std::size_t capacity)
      : capacity_(capacity), places_(std::bit_ceil(capacity * 2 + 2)) {}

  numbered number_of(std::uint64_t key) noexcept {
    auto const mask = places_.size() - 1;
    auto at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 32) & mask;
    for (; places_[at].number != 0; at = (at + 1) & mask)
      if (places_[at].key == key) return {places_[at].number, false};
    if (used_ == capacity_) return {};
    places_[at] = {key, ++used_};
    return {used_, true};
  }

 private:
  struct place {
    std::uint64_t key = 0;
    std::uint32_t number = 0;
  };
  std::size_t capacity_;
  std::vector<place> places_;
  std::uint32_t used_ = 0;
};

/// Launches of one workload in some place.
struct work_tally {
  std::uint64_t launches = 0;
  std::uint64_t slowed_launches = 0;  // of these, with a kernel that was rewritten to count
  std::uint64_t ns = 0;               // of the others
};

/// A workload in all of the program.
struct live_workload {
  workload_id id;
  std::uint32_t kernel = 0;  // row of its name; 0: "(other)", or it is a graph
  work_tally all;
  std::uint64_t slowed_ns = 0;
  std::uint64_t read_launches = 0, read_ns = 0;  // around which counters were read, slowed or not

  /// ns of a launch around which nothing is read; if all were read, of those that were not slowed.
  std::optional<double> undisturbed_mean() const noexcept;
  /// What the launches took, slowed ones taken as long as the others.
  double time_of(work_tally const& part) const noexcept;
};

/// The sums, as a value.
struct workload_sums {
  struct part {
    std::uint32_t range = 0, workload = 0;  // rows; workload 0: all that were not told apart
    work_tally tally;
  };
  struct declaration {
    double flops = 0;
    std::uint64_t ns = 0;  // GPU time of the ranges that declare them
  };
  std::vector<live_workload> workloads;
  std::vector<part> parts;
  std::vector<work_tally> others;     // by row of range: launches that have no part
  std::vector<declaration> declared;  // by row of range
};

/// One thread. Rows are those of live_totals.
class workload_tallies {
 public:
  struct capacity {
    std::size_t workloads = 4096;
    std::size_t parts = 16384;
    std::size_t declaring_ranges = 4096;  // whose work is not complete
  };
  workload_tallies(std::size_t range_rows, capacity limits);

  /// Kernels of this graph that come from now on are launches of the graph.
  void count_as_one(device_id device, graph_id graph);
  bool counts_as_one(kernel_record const& kernel) noexcept;

  // First one of these, then add_in() for each range name around the launch.
  void begin(kernel_record const& kernel, bool is_graph, std::uint32_t kernel_row);
  /// Counters were read around this launch, whose kernels took `ns` and have been added. False:
  /// they slowed it down by nothing, and it counts in its ranges as before.
  bool begin_read(kernel_record const& kernel, bool is_graph, std::uint64_t ns, bool is_slowed);
  void add_in(std::uint32_t range_row);

  /// A range declares the FLOP of all its launches. Divided by the time of the first of them they
  /// would be a rate that no GPU has, so they count when the range is complete.
  void declare(range_id range, double flops, std::vector<std::uint32_t> rows_around);
  void end_range(range_id range, timestamp_ns time) noexcept;
  bool any_declares() const noexcept { return !declaring_.empty(); }
  /// False: the range declares nothing.
  bool add_to_declaring(range_id range, duration_ns duration) noexcept;
  /// All launches up to this moment have been added.
  void settle(timestamp_ns complete_until);

  workload_sums const& sums() const noexcept { return sums_; }

 private:
  struct declaring_range {
    double flops = 0;
    std::uint64_t ns = 0;
    timestamp_ns end;  // 0: open
    std::vector<std::uint32_t> rows;
  };
  struct graph_launches {  // the latest of a graph, whose kernels come one by one
    std::array<correlation_id, 8> latest{};
    std::size_t next = 0;
  };
  std::uint32_t workload_of(kernel_record const& kernel, bool is_graph, std::uint32_t kernel_row);
  bool is_new_launch(std::uint32_t workload, correlation_id correlation);

  capacity const limits_;
  workload_sums sums_;
  key_numbers workload_numbers_, part_numbers_;
  std::map<std::uint32_t, graph_launches> graphs_;  // by workload
  std::set<workload_id> counted_as_one_;
  graph_id last_graph_{};  // asked about last
  device_id last_device_{};
  bool last_counts_as_one_ = false;
  std::map<range_id, declaring_range> declaring_;

  // The launch that is being added.
  std::uint32_t workload_ = 0;
  bool is_new_ = true, is_slowed_ = false;
  std::uint64_t ns_ = 0;
};

}  // namespace gpuprof::guest

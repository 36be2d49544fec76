// SPDX-License-Identifier: Apache-2.0
// Sums how often and how long each workload ran inside the ranges of each name, in memory that does
// not grow.
#pragma once

#include "base/time.hpp"
#include "guest/live/recent_ranges.hpp"
#include "host/analysis/range_workloads.hpp"
#include "host/analysis/workload_times.hpp"
#include "model/ids.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::guest {

/// Distinguishes the latest launches of a CUDA graph, because their kernels arrive one by one.
struct graph_launch {
  correlation_id correlation{};  // 0: none
  bool is_sampled = false;       // counters may have run around it
  std::uint64_t ns = 0;          // time of its kernels so far
};

/// For one thread. A graph runs one launch at a time, but records are only roughly in order, and a
/// reading of a launch can become known shortly after its kernels.
class graph_launches {
 public:
  graph_launch* find(correlation_id correlation) noexcept {
    if (recent_[last_].correlation == correlation) return &recent_[last_];
    auto* const found = std::find_if(recent_.begin(), recent_.end(), [&](graph_launch const& l) {
      return l.correlation == correlation;
    });
    return found != recent_.end() ? found : nullptr;
  }
  /// Replaces the oldest launch.
  graph_launch& begin(correlation_id correlation) noexcept {
    last_ = (last_ + 1) % recent_.size();
    return recent_[last_] = {correlation};
  }

 private:
  std::array<graph_launch, 8> recent_{};
  std::size_t last_ = 0;
};

// Holds back what ranges declare until all of their launches are known.

/// A range declares its FLOP for all of its launches when it begins. Divided by the time of its
/// first launches only, they would be an impossible rate. For one thread. Ranges are identified by
/// place.
class declared_work {
 public:
  explicit declared_work(std::size_t places) : ranges_(places) {}

  /// A range begins and takes the place of an older one. FLOP of the older range that are not
  /// settled yet are lost.
  void begin(std::size_t place, std::uint32_t path, double flops) noexcept {
    auto& range = ranges_[place];
    range = {flops, 0, {}, path, flops > 0, range.is_listed};
    any_ = any_ || flops > 0;
  }
  void end(std::size_t place, timestamp_ns time) noexcept { ranges_[place].end = time; }

  /// True once any range has declared something. Most programs never do.
  bool any() const noexcept { return any_; }
  bool declares(std::size_t place) const noexcept { return ranges_[place].declares; }
  /// Adds a launch to a range that declares FLOP.
  void add_launch(std::size_t place, std::uint64_t ns) {
    auto& range = ranges_[place];
    range.ns += ns;
    range.has_launch = true;
    if (!std::exchange(range.is_listed, true)) listed_.push_back(static_cast<std::uint32_t>(place));
  }

  /// The caller has added all launches up to `complete_until`. Calls f(path, flops, ns) for each
  /// range that ended by then and has a launch.
  template <class F>
  void settle(timestamp_ns complete_until, F f) {
    std::size_t left = 0;
    for (auto const place : listed_) {
      auto& range = ranges_[place];
      bool const is_over = range.end.value != 0 && range.end <= complete_until;
      if (!range.has_launch || is_over) {
        range.is_listed = false;
        if (!range.has_launch) continue;  // listed by the older range in this place
        range.has_launch = false;
        f(range.path, std::exchange(range.flops, 0), std::exchange(range.ns, 0));
      } else {
        listed_[left++] = place;
      }
    }
    listed_.resize(left);
  }

 private:
  struct declared_range {
    double flops = 0;
    std::uint64_t ns = 0;  // GPU time of its launches, not settled yet
    timestamp_ns end;      // 0: open
    std::uint32_t path = 0;
    bool declares = false;
    bool is_listed = false;
    bool has_launch = false;
  };
  std::vector<declared_range> ranges_;
  std::vector<std::uint32_t> listed_;  // places with launches to settle
  bool any_ = false;
};

using namespace host;  // the arithmetic of reports

/// The sums, as a value that can be copied.
struct workload_sums {
  /// A path of nested range names. Path 0 is outside all ranges.
  struct nesting {
    std::uint32_t parent = 0;
    std::uint32_t name = 0;
    range_style style{};
    launch_tally others;  // launches of workloads without a cell
    // Sums of the ranges of this path that have ended and were the innermost declaring range of a
    // launch.
    double declared_flops = 0;
    std::uint64_t declared_ns = 0;  // time of those launches
  };
  struct known_workload {
    workload_id id;
    launch_tally sampled;     // launches around which counters may have run
    std::uint32_t graph = 0;  // number of the graph, from 1; 0: a kernel
  };
  struct workload_cell {
    std::uint32_t path = 0, workload = 0;
    launch_tally tally;
  };
  std::vector<nesting> paths;
  std::vector<known_workload> workloads;
  std::vector<workload_cell> cells;
  std::vector<std::string> range_names;          // "domain:name"
  std::map<shape_id, std::string> kernel_names;  // mangled names for the shapes in `workloads`
  std::uint64_t ranges_left_out = 0;  // their launches count only in the ranges around them

  bool is_inside(std::uint32_t path, std::uint32_t name) const noexcept;

  /// Workload 0 is the sum of all workloads without their own cell.
  workload_times times(launch_metrics const& metrics) const;
  /// `key.name` is an index into `range_names`. Names without a launch are left out.
  std::vector<range_work> ranges() const;
};

/// For one thread.
class live_workloads {
 public:
  struct capacity {
    std::size_t range_names = 1024;
    std::size_t paths = 2048;
    std::size_t workloads = 4096;
    std::size_t cells = 16384;  // pairs of path and workload
    std::size_t recent_ranges = 65536;
    std::size_t recent_start_end = 64;
  };
  /// `text` is called once for each name. The result must stay valid only until the next call.
  live_workloads(std::function<std::string_view(name_id)> text, capacity limits);

  void add(kernel_shape const& shape);
  void add(range_begin const& begin);
  void add(range_end const& end) {
    if (auto const* const range = recent_.end(end))
      declared_.end(recent_.place_of(*range), end.time);
  }
  /// `is_graph`: the kernel counts as part of its graph, not as its own workload.
  void add(kernel_record const& kernel, bool is_graph);

  /// Counters may have run around this launch, so its time says nothing about other launches. For a
  /// graph, this applies to all kernels of the launch, earlier and later ones.
  void note_sampled(kernel_record const& kernel, bool is_graph);
  /// The launch took longer because it was counted.
  void note_slowed(kernel_record const& kernel);

  /// The caller has added all launches up to this moment. From now on, the declared FLOP of ranges
  /// that ended by then count.
  void settle(timestamp_ns complete_until);

  workload_sums const& sums() const noexcept { return sums_; }

 private:
  static constexpr auto none_declares = ~std::size_t{0};
  using key = std::uint64_t;  // key of a cell; 0: none
  struct place {
    key of = 0;
    std::uint32_t cell = 0;
  };
  static key key_of(kernel_record const& kernel, bool is_graph) noexcept;
  std::uint32_t path_around(range_id innermost);
  std::size_t declaring_around(range_id innermost) const;
  std::uint32_t path_of(std::uint32_t parent, std::uint32_t name, range_style style);
  std::uint32_t name_of(range_begin const& begin);
  workload_sums::workload_cell* cell_of(std::uint32_t path, kernel_record const& kernel,
                                        bool is_graph);
  workload_sums::workload_cell* make_cell(place& at, key of, std::uint32_t path,
                                          kernel_record const& kernel, bool is_graph);
  /// Returns true if this is the first kernel of the launch.
  bool add_to_graph(workload_sums::known_workload& graph, kernel_record const& kernel);
  /// Calls f(launch_tally&) for the path of the launch and for each start/end range that contains
  /// it.
  template <class F>
  void each_tally(kernel_record const& kernel, bool is_graph, F f);

  std::function<std::string_view(name_id)> const text_;
  capacity const limits_;
  workload_sums sums_;
  recent_ranges recent_;  // each range has its path as label
  std::map<std::uint64_t, std::uint32_t> name_index_, path_index_;
  std::map<workload_id, std::uint32_t> workload_index_;
  std::vector<place> cell_index_;
  std::vector<graph_launches> graphs_;  // index: graph number - 1
  std::vector<name_id> shape_names_;
  declared_work declared_;  // index: place in `recent_`
  range_id last_range_{};
  std::uint32_t last_path_ = 0;
  std::size_t last_declaring_ = none_declares;  // place of the innermost declaring range
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Adds up how often and how long each workload ran inside the ranges of each name, in memory that
// does not grow.
#pragma once

#include "guest/live/declared_work.hpp"
#include "guest/live/graph_launches.hpp"
#include "guest/live/recent_ranges.hpp"
#include "host/analysis/range_workloads.hpp"
#include "host/analysis/workload_times.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

using namespace host;  // the arithmetic of reports

/// The sums, as a value.
struct workload_sums {
  /// Ranges of one name in ranges of one name, and so on: 0 is outside of all.
  struct nesting {
    std::uint32_t parent = 0;
    std::uint32_t name = 0;
    range_style style{};
    launch_tally others;  // of workloads that have no cell
    // Of its ranges that are over, and the innermost declaring ones around some launch.
    double declared_flops = 0;
    std::uint64_t declared_ns = 0;  // of those launches
  };
  struct known_workload {
    workload_id id;
    launch_tally sampled;     // launches around which counters may have run
    std::uint32_t graph = 0;  // its number, from 1; 0: a kernel
  };
  struct workload_cell {
    std::uint32_t path = 0, workload = 0;
    launch_tally tally;
  };
  std::vector<nesting> paths;
  std::vector<known_workload> workloads;
  std::vector<workload_cell> cells;
  std::vector<std::string> range_names;          // "domain:name"
  std::map<shape_id, std::string> kernel_names;  // mangled, of the shapes of `workloads`
  std::uint64_t ranges_left_out = 0;  // their launches count in the ranges around them alone

  bool is_inside(std::uint32_t path, std::uint32_t name) const noexcept;

  /// Workload 0 stands for all that were not told apart.
  workload_times times(launch_metrics const& metrics) const;
  /// `key.name` is an index into `range_names`. Names without a launch are left out.
  std::vector<range_work> ranges() const;
};

/// One thread.
class live_workloads {
 public:
  struct capacity {
    std::size_t range_names = 1024;
    std::size_t paths = 2048;
    std::size_t workloads = 4096;
    std::size_t cells = 16384;  // workloads in paths
    std::size_t recent_ranges = 65536;
    std::size_t recent_start_end = 64;
  };
  /// `text` is asked once for each name; its answer need only hold until it is asked again.
  live_workloads(std::function<std::string_view(name_id)> text, capacity limits);

  void add(kernel_shape const& shape);
  void add(range_begin const& begin);
  void add(range_end const& end) {
    if (auto const* const range = recent_.end(end))
      declared_.end(recent_.place_of(*range), end.time);
  }
  /// `is_graph`: its kernels are no workloads of their own.
  void add(kernel_record const& kernel, bool is_graph);

  /// Counters may have run around this launch, so it tells nothing about how long others take. Of a
  /// graph: all its kernels, those before and those to come.
  void note_sampled(kernel_record const& kernel, bool is_graph);
  /// It took longer than others for being counted.
  void note_slowed(kernel_record const& kernel);

  /// All launches up to this moment have been added: what ranges declared that are over by then
  /// counts from now on.
  void settle(timestamp_ns complete_until);

  workload_sums const& sums() const noexcept { return sums_; }

 private:
  static constexpr auto none_declares = ~std::size_t{0};
  using key = std::uint64_t;  // of a cell; 0: none
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
  /// True when it is a launch that has had no kernel yet.
  bool add_to_graph(workload_sums::known_workload& graph, kernel_record const& kernel);
  /// Calls f(launch_tally&) for the path of the launch and for each start/end range it is in.
  template <class F>
  void each_tally(kernel_record const& kernel, bool is_graph, F f);

  std::function<std::string_view(name_id)> const text_;
  capacity const limits_;
  workload_sums sums_;
  recent_ranges recent_;  // labeled with their path
  std::map<std::uint64_t, std::uint32_t> name_index_, path_index_;
  std::map<workload_id, std::uint32_t> workload_index_;
  std::vector<place> cell_index_;
  std::vector<graph_launches> graphs_;  // by number - 1
  std::vector<name_id> shape_names_;
  declared_work declared_;  // by place in recent_
  range_id last_range_{};
  std::uint32_t last_path_ = 0;
  std::size_t last_declaring_ = none_declares;  // place of the innermost declaring range
};

}  // namespace gpuprof::guest

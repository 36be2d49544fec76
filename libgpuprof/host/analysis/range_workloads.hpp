// SPDX-License-Identifier: Apache-2.0
// Which workloads were launched inside the ranges of each name, and how much work the ranges
// declared.
#pragma once

#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/range_tree.hpp"
#include "host/analysis/workload_times.hpp"

#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace gpuprof::host {

struct range_workload {
  std::uint32_t workload = 0;
  launch_tally tally;
};

struct range_work {
  range_key key;                // of the line of what no range launched, nothing
  bool is_outside = false;      // this is that line
  std::uint64_t instances = 0;  // with GPU work
  std::vector<range_workload> workloads;
  // Of the innermost declaring range around each launch, where that is inside this one.
  double declared_flops = 0, declared_bytes = 0;
  std::uint64_t declared_ns = 0, declared_bytes_ns = 0;  // GPU time of the launches in such ranges
};

/// What a range says of its own work; 0: nothing.
struct range_declaration {
  double flops = 0, bytes = 0;
};

/// The name of the line of launches outside any range.
inline constexpr std::string_view outside_ranges_name = "[launched outside any range]";

/// A launch belongs to the push/pop ranges that launch_ranges says and to the start/end ranges open
/// anywhere, once for each name.
class range_workloads {
 public:
  /// `declared`: work by range, where a marker declared some. `line_of`: once for each range.
  range_workloads(range_tree const& tree, open_ranges const& open, launch_ranges const& launched,
                  std::map<range_id, range_declaration> const& declared,
                  range_grouping const& line_of = listed_by_name);

  template <class Record>
  void add(Record const& record, workload_times::seen const& seen) {
    auto const range = launched_.innermost(record);
    bool const is_inside = add(range, record.launched, seen, nanoseconds(record.duration));
    // Of what was launched unseen, or in a range that is not recorded, nobody knows.
    if (is_inside || record.launched.value == 0 || raw(record.range) != 0) return;
    note(outside, seen, nanoseconds(record.duration));
  }

  /// If work was added before launch_metrics::join(): after it, before rows are made.
  void decide(launch_metrics const& metrics, workload_times const& times);

  /// That of launches outside any range comes last, where there are others.
  std::vector<range_work> rows() const;
  /// The same by places in a tree: `place_of_range` by index into the tree of ranges,
  /// `place_around` that in which a place lies, or no_range. A launch belongs to all around it. The
  /// name of each key is the number of its place; places without work have none.
  std::vector<range_work> by_place(std::span<std::uint32_t const> place_of_range,
                                   std::span<std::uint32_t const> place_around) const;

 private:
  static constexpr auto outside = no_range;  // the path of what no range launched
  std::uint32_t outer(std::uint32_t range) const noexcept {
    return around(tree_[range], launched_.scope());
  }
  struct cell {
    std::uint32_t path = 0;
    range_workload work;
  };
  /// The kernels of one workload that a graph has launched.
  struct undecided_cell {
    std::uint32_t path = 0, workload = 0, graph = 0;
    launch_tally as_kernels, as_graph;
  };
  bool add(std::uint32_t innermost, timestamp_ns launched, workload_times::seen const& seen,
           std::uint64_t ns);
  void note(std::uint32_t path, workload_times::seen const& seen, std::uint64_t ns);
  launch_tally& tally_of(std::uint32_t path, std::uint32_t workload);
  struct declared_amounts {
    std::vector<double> amounts;        // by range; empty: none declares
    std::vector<std::uint64_t> own_ns;  // by range: of launches whose innermost declarer it is
    void declare(std::uint32_t range, double amount, std::size_t ranges);
  };
  void note_declared(declared_amounts& of, std::uint32_t range, std::uint64_t ns);
  /// The next range around it that declares; no_range: none.
  std::uint32_t declaring_around(declared_amounts const& of, std::uint32_t range) const;
  template <class Lines>
  void add_declared(Lines const& each_line) const;

  range_tree const& tree_;
  open_ranges const& open_;
  launch_ranges const& launched_;
  numbered_paths paths_;
  declared_amounts flops_, bytes_;
  std::vector<bool> has_work_;  // by range, itself or inside
  std::vector<cell> cells_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> cell_of_;
  std::map<std::uint32_t, launch_tally> outside_;  // by workload
  std::vector<undecided_cell> undecided_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> undecided_of_;
};

}  // namespace gpuprof::host

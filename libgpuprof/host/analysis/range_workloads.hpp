// SPDX-License-Identifier: Apache-2.0
// Sums the workloads launched inside the ranges of each name, and the work that the ranges
// declared.
#pragma once

#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/range_tree.hpp"
#include "host/analysis/workload_cells.hpp"

#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace gpuprof::host {

struct range_work {
  range_key key;                // empty in the line of launches outside any range
  bool is_outside = false;      // this is the line of launches outside any range
  std::uint64_t instances = 0;  // ranges with GPU work
  std::uint64_t length_ns = 0;  // of these, without those inside one of the same line
  std::vector<tallied_workload> workloads;
  // From the innermost declaring range around each launch, if that range is inside this one.
  double declared_flops = 0, declared_bytes = 0;
  std::uint64_t declared_ns = 0, declared_bytes_ns = 0;  // GPU time of the launches in such ranges
};

/// The work that a range declares for itself. 0: nothing.
struct range_declaration {
  double flops = 0, bytes = 0;
};

/// The name of the line of launches outside any range.
inline constexpr std::string_view outside_ranges_name = "[launched outside any range]";

/// A launch belongs to the push/pop ranges from launch_ranges and to the start/end ranges open
/// anywhere, once for each name.
class range_workloads {
 public:
  /// `declared`: work by range, from markers. `line_of` is called once for each range.
  range_workloads(range_tree const& tree, open_ranges const& open, launch_ranges const& launched,
                  std::map<range_id, range_declaration> const& declared,
                  range_grouping const& line_of = listed_by_name);

  template <class Record>
  void add(Record const& record, workload_times::seen const& seen) {
    auto const range = launched_.innermost(record);
    bool const is_inside = add(range, record.launched, seen, nanoseconds(record.duration));
    // Not known for work whose launch was not seen or whose range is not recorded.
    if (is_inside || record.launched.value == 0 || raw(record.range) != 0) return;
    cells_.add(outside, seen, nanoseconds(record.duration));
  }

  /// Needed if work was added before launch_metrics::join(): call after it and before rows are
  /// made.
  void decide(launch_metrics const& metrics, workload_times const& times) {
    cells_.decide(metrics, times);
  }

  /// The row of launches outside any range comes last; it exists only if there are other rows.
  std::vector<range_work> rows() const;
  /// As rows(), but by place in a tree. `place_of_range` is indexed like the tree of ranges;
  /// `place_around` gives the enclosing place, or no_range. A launch counts in all places around
  /// it. The key's name is the place number. Places without work have no row.
  std::vector<range_work> by_place(std::span<std::uint32_t const> place_of_range,
                                   std::span<std::uint32_t const> place_around) const;

 private:
  static constexpr auto outside = no_range;  // path number for launches outside any range
  std::uint32_t outer(std::uint32_t range) const noexcept {
    return around(tree_[range], launched_.scope());
  }
  bool add(std::uint32_t innermost, timestamp_ns launched, workload_times::seen const& seen,
           std::uint64_t ns);
  struct declared_amounts {
    std::vector<double> amounts;  // indexed by range; empty: no range declares
    // by range: time of launches whose innermost declaring range it is
    std::vector<std::uint64_t> own_ns;
    void declare(std::uint32_t range, double amount, std::size_t ranges);
  };
  void note_declared(declared_amounts& of, std::uint32_t range, std::uint64_t ns);
  /// Returns the next enclosing range that declares, or no_range.
  std::uint32_t declaring_around(declared_amounts const& of, std::uint32_t range) const;
  template <class Lines>
  void add_declared(Lines const& each_line) const;

  range_tree const& tree_;
  open_ranges const& open_;
  launch_ranges const& launched_;
  numbered_paths paths_;
  declared_amounts flops_, bytes_;
  std::vector<bool> has_work_;  // by range: it or a range inside has work
  workload_cells cells_;        // by path
};

}  // namespace gpuprof::host

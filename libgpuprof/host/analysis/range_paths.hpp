// SPDX-License-Identifier: Apache-2.0
// The ranges of a trace as a tree of names: how often each place in it was entered, and for how
// long, with and without what is inside.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/range_tree.hpp"
#include "host/analysis/timeline/step_ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::host {

struct range_path {
  range_key key;                    // of its innermost name; of joined paths, the style alone
  std::uint32_t parent = no_range;  // index of the path around it, always below its own
  std::uint32_t joined = 0;         // more than 0: so many short paths stand together here
  std::uint64_t instances = 0;
  std::uint64_t cpu_ns = 0, own_cpu_ns = 0;  // own: without the ranges inside
  std::uint64_t gpu_ns = 0, own_gpu_ns = 0;  // of work launched inside; own: by no range inside
  std::uint64_t operations = 0;              // of these: kernels, copies, fills, graphs
};

/// A tree that is small enough to be drawn.
struct bounded_paths {
  std::vector<range_path> paths;
  std::vector<std::uint32_t> of_range;  // by index into the range tree
  std::size_t joined = 0;               // paths that have no place of their own
};

class range_paths {
 public:
  /// All outlive it. `line_of`: ranges that lie in the same place are told apart by this.
  range_paths(range_tree const& tree, open_ranges const& open, launch_ranges const& launched,
              range_grouping const& line_of = listed_by_name);

  /// Anything that ran on the GPU, with the time it takes when nobody counts.
  template <class Record>
  void add(Record const& record, std::uint64_t ns) {
    add(launched_.innermost(record), record.launched, ns);
  }

  /// At most `limit` paths, those of the longest times. Others are joined below the path that they
  /// lie in. A start/end range lies in none: what was launched while it was open counts in it, too;
  /// of joined ones, which overlap, no GPU time is told.
  bounded_paths bounded(std::size_t limit) const;

 private:
  void add(std::uint32_t innermost, timestamp_ns launched, std::uint64_t ns);
  void note(std::uint32_t path, std::uint64_t ns) noexcept;
  std::vector<range_path> summed() const;

  open_ranges const& open_;
  launch_ranges const& launched_;
  std::vector<range_path> paths_;  // own times alone
  std::vector<std::uint32_t> path_of_range_;
};

// Lists ranges that differ in nothing but the number at the end of their names on one line, where
// there are very many: "aten::mm, seq = 1" to "aten::mm, seq = 500000".

/// So many names that differ in a number alone keep a line each: the layers of a model do.
inline constexpr std::size_t max_numbered_names = 64;

class numbered_ranges {
 public:
  /// Steps are one line, however many there are. `text` is asked here alone.
  numbered_ranges(range_tree const& tree, text_of_name const& text, step_ranges const& steps);

  /// The key of the first range that shares the line.
  range_key line_of(range_key const& key) const noexcept;
  /// "aten::mm, seq #"; of steps, "step"; empty: the line is of one name, which is its own.
  std::string name_of_line(range_key const& key) const;

 private:
  struct shared_line {
    range_key first;
    std::string name;
  };
  std::map<range_key, shared_line> shared_;  // those that share one
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// Builds a tree of range names: how often each place was entered, and for how long, with and
// without the ranges inside.
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
  range_key key;                    // of its innermost name; joined paths only have a style
  std::uint32_t parent = no_range;  // index of the path around it, always lower than its own
  std::uint32_t joined = 0;         // number of short paths joined here; 0: a single path
  std::uint64_t instances = 0;
  std::uint64_t cpu_ns = 0, own_cpu_ns = 0;  // own: without time in ranges inside
  // of work launched inside; own: not launched by a range inside
  std::uint64_t gpu_ns = 0, own_gpu_ns = 0;
  std::uint64_t operations = 0;  // pieces of this work: kernels, copies, fills, graphs
};

/// A tree with a limited number of paths, for drawing.
struct bounded_paths {
  std::vector<range_path> paths;
  std::vector<std::uint32_t> of_range;  // by index into the range tree
  std::size_t joined = 0;               // number of paths without a place of their own
};

class range_paths {
 public:
  /// All arguments must outlive this object. `line_of` distinguishes ranges at the same place.
  range_paths(range_tree const& tree, open_ranges const& open, launch_ranges const& launched,
              range_grouping const& line_of = listed_by_name);

  /// Adds anything that ran on the GPU. `ns` is its time without counters.
  template <class Record>
  void add(Record const& record, std::uint64_t ns) {
    add(launched_.innermost(record), record.launched, ns);
  }

  /// Returns at most `limit` paths, the longest ones. Other paths are joined below their enclosing
  /// path. A start/end range is not nested in others; work launched while it was open counts in it
  /// as well. Joined start/end ranges overlap, so they have no GPU time.
  bounded_paths bounded(std::size_t limit) const;

 private:
  void add(std::uint32_t innermost, timestamp_ns launched, std::uint64_t ns);
  void note(std::uint32_t path, std::uint64_t ns) noexcept;
  std::vector<range_path> summed() const;

  open_ranges const& open_;
  launch_ranges const& launched_;
  std::vector<range_path> paths_;  // own times only
  std::vector<std::uint32_t> path_of_range_;
};

// Lists many ranges that differ only in the number at the end of their name on one line: "aten::mm,
// seq = 1" to "aten::mm, seq = 500000".

/// Up to this many names that differ only in a number keep a line each, as the layers of a model
/// do.
inline constexpr std::size_t max_numbered_names = 64;

class numbered_ranges {
 public:
  /// All steps share one line. `text` is used only in the constructor.
  numbered_ranges(range_tree const& tree, text_of_name const& text, step_ranges const& steps);

  /// Returns the key of the first range on the line.
  range_key line_of(range_key const& key) const noexcept;
  /// Returns "aten::mm #", or "step" for steps. Empty: the line has only one name and shows
  /// it.
  std::string name_of_line(range_key const& key) const;

 private:
  struct shared_line {
    range_key first;
    std::string name;
  };
  std::map<range_key, shared_line> shared_;  // only keys that share a line
};

}  // namespace gpuprof::host

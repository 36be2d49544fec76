// SPDX-License-Identifier: Apache-2.0
// Says in which push/pop range a launch counts, also one from a thread that has none open; and
// numbers the places in which ranges lie.
#pragma once

#include "host/analysis/range_tree.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpuprof::host {

/// Whose push/pop ranges a launch can belong to.
enum class range_scope : std::uint8_t {
  process,  // of the launching thread; where that has none open, of the thread that waits for it
  thread,   // of the launching thread alone, as in nsys
};

/// The range around another that counts what was launched in it, too.
inline std::uint32_t around(traced_range const& range, range_scope scope) noexcept {
  return scope == range_scope::process ? range.around() : range.parent;
}

/// PyTorch runs backward on a thread of its own, which opens no ranges, while the thread that asked
/// for it waits inside some. Which thread waits is not recorded. It is taken to be the program's
/// main thread where that has a range open, else the thread that opened one last.
class launch_ranges {
 public:
  /// The tree outlives it. `main_thread` 0: not known.
  launch_ranges(range_tree const& tree, range_scope scope, thread_index main_thread);

  range_scope scope() const noexcept { return scope_; }

  /// The innermost range of a kernel, graph, copy or fill; no_range: none.
  template <class Record>
  std::uint32_t innermost(Record const& record) const noexcept {
    if (raw(record.range) != 0) return tree_->index_of(record.range);
    return record.launched.value == 0 ? no_range : open_at(record.launched);
  }

 private:
  std::uint32_t open_at(timestamp_ns moment) const noexcept;

  range_tree const* tree_;
  range_scope scope_;
  std::vector<std::uint64_t> begins_;  // of each segment between two events
  std::vector<std::uint32_t> ranges_;  // the range that threads without one count in
  mutable std::size_t last_ = 0;
};

/// On which line a range is listed: one for each name, or what else ranges have in common.
using range_grouping = std::function<range_key(traced_range const&)>;
inline range_key listed_by_name(traced_range const& range) noexcept {
  return key_of(range);
}

struct numbered_paths {
  struct path {
    std::uint32_t parent = no_range;  // of the path around it, always below its own
    range_key key;
  };
  std::vector<path> all;
  std::vector<std::uint32_t> of_range;  // by index into the range tree
};

/// `line_of`: ranges that lie in the same place are told apart by this; asked once for each range.
numbered_paths number_paths(range_tree const& tree, range_scope scope,
                            range_grouping const& line_of);

}  // namespace gpuprof::host

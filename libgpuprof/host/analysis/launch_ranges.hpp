// SPDX-License-Identifier: Apache-2.0
// Says in which push/pop range a launch counts, also one from a thread that has none open.
#pragma once

#include "host/analysis/range_tree.hpp"

#include <cstdint>
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

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// Finds the push/pop range of a launch, even if the launching thread has no open range, and numbers
// the places where ranges occur.
#pragma once

#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/range_tree.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpuprof::host {

/// The threads whose push/pop ranges a launch can belong to.
enum class range_scope : std::uint8_t {
  process,  // the launching thread or, if it has no open range, the thread that waits for it
  thread,   // only the launching thread, as in nsys
};

/// Returns the enclosing range, which also counts launches in `range`.
inline std::uint32_t around(traced_range const& range, range_scope scope) noexcept {
  return scope == range_scope::process ? range.around() : range.parent;
}

/// PyTorch runs backward on a separate thread without ranges, while the thread that requested it
/// waits inside a range. The capture does not say which thread waits: the main thread is assumed if
/// it has an open range, else the thread that opened a range last.
class launch_ranges {
 public:
  /// The tree must outlive this object. `main_thread` is 0 if it is not known.
  launch_ranges(range_tree const& tree, range_scope scope, thread_index main_thread);

  range_scope scope() const noexcept { return scope_; }

  /// Returns the innermost range of a kernel, graph, copy or fill, or no_range.
  template <class Record>
  std::uint32_t innermost(Record const& record) const noexcept {
    if (raw(record.range) != 0) {
      auto const index = tree_->index_of(record.range);
      if (index != no_range || !tree_->has_left_out()) return index;
    }
    return record.launched.value == 0 ? no_range : open_at(record.launched);
  }

 private:
  std::uint32_t open_at(timestamp_ns moment) const noexcept;

  range_tree const* tree_;
  range_scope scope_;
  std::vector<std::uint64_t> begins_;  // start of each segment between two events
  std::vector<std::uint32_t> ranges_;  // range that counts launches of threads without one
  mutable std::size_t last_ = 0;
};

/// Returns the key of the line on which a range is listed: by default its name.
using range_grouping = std::function<range_key(traced_range const&)>;
inline range_key listed_by_name(traced_range const& range) noexcept {
  return key_of(range);
}

/// "domain:name", or the bare name in the default domain.
std::string range_name(range_key const& key, text_of_name const& text);

struct numbered_paths {
  struct path {
    std::uint32_t parent = no_range;  // index of the path around it, always lower than its own
    range_key key;
  };
  std::vector<path> all;
  std::vector<std::uint32_t> of_range;  // by index into the range tree
};

/// `line_of` distinguishes ranges at the same place. It is called once for each range.
numbered_paths number_paths(range_tree const& tree, range_scope scope,
                            range_grouping const& line_of);

}  // namespace gpuprof::host

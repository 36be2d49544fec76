// SPDX-License-Identifier: Apache-2.0
// Selects the part of a trace that the user wants to see: a time range, the inside of NVTX ranges,
// a GPU, a stream, some kernels.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/range_tree.hpp"

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// NAME[@DOMAIN][/INDEX], the syntax of nsys --filter-nvtx. A backslash escapes the next character.
/// Without a domain, matches the default domain, or DOMAIN:NAME as reports show ranges; domain "*"
/// matches any. Without an index, matches all ranges of that name.
struct range_expression {
  std::string name;
  std::string domain;
  std::optional<std::uint64_t> index;  // counted from 0 in order of start
};
result<range_expression> parse_range_expression(std::string_view text);
/// Returns indices into the tree, or an error if no range matches.
result<std::vector<std::uint32_t>> ranges_of(range_expression const& filter, range_tree const& tree,
                                             text_of_name const& text);

/// Parses START/END; either may be missing. Numbers may have ns, us, ms or s (default ns) and count
/// from `origin`.
result<time_stretch> parse_time_stretch(std::string_view text, timestamp_ns origin);

class selection {
 public:
  selection() = default;  // selects everything

  void only(time_stretch stretch) { stretch_ = stretch; }
  /// Returns an error if no range of the tree matches. All arguments except the filter must outlive
  /// the selection.
  result<void> only(range_expression const& filter, range_tree const& tree, open_ranges const& open,
                    launch_ranges const& launched, text_of_name const& text);

  /// Selects GPU work of this device or stream only.
  void only(device_id device) { device_ = device; }
  void only(stream_id stream) { stream_ = stream; }
  /// Selects these kernels as the only GPU work. Indexed by shape_id.
  void only_kernels(std::vector<bool> shapes) { shapes_ = std::move(shapes); }

  bool is_everything() const noexcept {
    return !stretch_ && tree_ == nullptr && !device_ && !stream_ && !shapes_;
  }

  /// True for GPU work that was launched inside a selected range and overlaps the selected time.
  template <class Record>
  bool keeps(Record const& record) const {
    return is_of_chosen(record) && overlaps(record.start, record.start + record.duration) &&
           (tree_ == nullptr || launched_inside(launched_->innermost(record), record.launched));
  }
  /// For work without a launching thread: it belongs to no range or stream, and to two GPUs or
  /// none.
  bool keeps_unlaunched(timestamp_ns begin, timestamp_ns end) const noexcept {
    return tree_ == nullptr && !device_ && !stream_ && !shapes_ && overlaps(begin, end);
  }
  /// True for API calls that began while a selected range was open on their thread (start/end
  /// ranges: on any thread).
  bool keeps(api_record const& call, thread_index thread) const;
  /// True for selected ranges and those enclosed in one.
  bool keeps_range(range_tree const& tree, std::uint32_t range) const {
    return keeps_inside(range, tree[range].begin, tree[range].end);
  }
  /// The same for something in `range` of the tree, which may be no_range.
  bool keeps_inside(std::uint32_t range, timestamp_ns begin, timestamp_ns end) const {
    return (tree_ == nullptr || (range != no_range && inside_[range])) && overlaps(begin, end);
  }

 private:
  bool overlaps(timestamp_ns begin, timestamp_ns end) const noexcept {
    return !stretch_ || (begin <= stretch_->end && end >= stretch_->begin);
  }
  template <class Record>
  bool is_of_chosen(Record const& record) const {
    if (device_ && record.device != *device_) return false;
    if (stream_ && record.stream != *stream_) return false;
    if constexpr (std::is_same_v<Record, kernel_record>)
      return !shapes_ || (raw(record.shape) < shapes_->size() && (*shapes_)[raw(record.shape)]);
    else
      return !shapes_;
  }
  bool launched_inside(std::uint32_t innermost, timestamp_ns launched) const;

  std::optional<time_stretch> stretch_;
  std::optional<device_id> device_;
  std::optional<stream_id> stream_;
  std::optional<std::vector<bool>> shapes_;
  range_tree const* tree_ = nullptr;
  open_ranges const* open_ = nullptr;
  launch_ranges const* launched_ = nullptr;
  std::vector<bool> inside_;  // by range: selected, or enclosed in a selected one
  // Selected push/pop ranges that are not inside another selected one, in order of start. On one
  // thread they do not overlap.
  std::map<thread_index, std::vector<std::uint32_t>> outermost_;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// Which part of a trace the user wants to see: a stretch of time, the inside of NVTX ranges, a GPU,
// a stream, some kernels.
#pragma once

#include "base/result.hpp"
#include "host/analysis/kernel_labels.hpp"
#include "host/analysis/launch_ranges.hpp"
#include "host/analysis/range_tree.hpp"
#include "base/time.hpp"

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuprof::host {

/// NAME[@DOMAIN][/INDEX], the syntax of nsys --filter-nvtx. A backslash takes the next character
/// as it is. Without a domain: the default domain, or DOMAIN:NAME, as reports show ranges; domain
/// "*": any. Without an index: all ranges of that name.
struct range_expression {
  std::string name;
  std::string domain;
  std::optional<std::uint64_t> index;  // counted from 0 in order of beginning
};
result<range_expression> parse_range_expression(std::string_view text);
/// Indices into the tree; the reason when there is none.
result<std::vector<std::uint32_t>> ranges_of(range_expression const& filter, range_tree const& tree,
                                             text_of_name const& text);

/// START/END, either may be left out; numbers with ns, us, ms or s, ns when there is none; counted
/// from `origin`.
result<time_stretch> parse_time_stretch(std::string_view text, timestamp_ns origin);

class selection {
 public:
  selection() = default;  // everything

  void only(time_stretch stretch) { stretch_ = stretch; }
  /// The reason when no range of the tree matches. All but the filter must outlive the selection.
  result<void> only(range_expression const& filter, range_tree const& tree, open_ranges const& open,
                    launch_ranges const& launched, text_of_name const& text);

  /// GPU work of these alone.
  void only(device_id device) { device_ = device; }
  void only(stream_id stream) { stream_ = stream; }
  /// By shape_id: of GPU work these kernels alone.
  void only_kernels(std::vector<bool> shapes) { shapes_ = std::move(shapes); }

  bool is_everything() const noexcept {
    return !stretch_ && tree_ == nullptr && !device_ && !stream_ && !shapes_;
  }

  /// GPU work: launched inside one of the chosen ranges, overlapping the stretch.
  template <class Record>
  bool keeps(Record const& record) const {
    return is_of_chosen(record) && overlaps(record.start, record.start + record.duration) &&
           (tree_ == nullptr || launched_inside(launched_->innermost(record), record.launched));
  }
  /// What no thread launched belongs to no range and no stream, and to two GPUs or none.
  bool keeps_unlaunched(timestamp_ns begin, timestamp_ns end) const noexcept {
    return tree_ == nullptr && !device_ && !stream_ && !shapes_ && overlaps(begin, end);
  }
  /// API calls: begun while a chosen range was open on that thread (start/end ranges: on any).
  bool keeps(api_record const& call, thread_index thread) const;
  /// Ranges: a chosen one, or enclosed in one.
  bool keeps_range(range_tree const& tree, std::uint32_t range) const;

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
  std::vector<bool> inside_;  // by range: chosen, or enclosed in a chosen one
  // Chosen push/pop ranges that lie in no other chosen one, in order of beginning: on one thread
  // they do not overlap.
  std::map<thread_index, std::vector<std::uint32_t>> outermost_;
};

}  // namespace gpuprof::host

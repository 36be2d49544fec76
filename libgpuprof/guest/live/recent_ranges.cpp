// SPDX-License-Identifier: Apache-2.0
#include "guest/live/recent_ranges.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace gpuprof::guest {

recent_ranges::recent_ranges(std::size_t ranges, std::size_t start_end)
    : recent_(std::bit_ceil(std::max(ranges, in_bucket))), start_end_(start_end) {}

recent_range const& recent_ranges::begin(range_begin const& begin, std::uint32_t label) {
  recent_range const range{begin.range, begin.parent, begin.time, {}, label, begin.style};
  auto* const bucket = &recent_[bucket_of(begin.range)];
  // An empty place, or that of the range that has been over longest, or the oldest open one.
  auto* const place = std::min_element(
      bucket, bucket + in_bucket, [](recent_range const& a, recent_range const& b) {
        auto const age = [](recent_range const& r) {
          return std::tuple(raw(r.id) != 0, r.end.value == 0, r.end.value, r.begin.value);
        };
        return age(a) < age(b);
      });
  *place = range;
  if (begin.style != range_style::start_end || start_end_.empty()) return *place;
  start_end_[next_start_end_] = range;
  start_end_used_ = std::max(start_end_used_, next_start_end_ + 1);
  next_start_end_ = (next_start_end_ + 1) % start_end_.size();
  return *place;
}

recent_range const* recent_ranges::end(range_end const& end) noexcept {
  auto* const range = const_cast<recent_range*>(find(end.range));
  if (range == nullptr) return nullptr;
  range->end = end.time;
  if (range->style == range_style::start_end)
    for (auto& open : start_end_)
      if (open.id == end.range) open.end = end.time;
  return range;
}

}  // namespace gpuprof::guest

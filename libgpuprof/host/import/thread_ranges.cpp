// SPDX-License-Identifier: Apache-2.0
#include "host/import/thread_ranges.hpp"

#include <algorithm>

namespace gpuprof::host {

std::uint32_t thread_ranges::not_ended(std::uint32_t range, std::uint64_t moment) const {
  while (range != 0 && ranges_[range - 1].end <= moment) range = ranges_[range - 1].parent;
  return range;
}

std::uint32_t thread_ranges::add(std::uint64_t begin, std::uint64_t end) {
  auto parent = not_ended(static_cast<std::uint32_t>(ranges_.size()), begin);
  while (parent != 0 && ranges_[parent - 1].end < end) parent = ranges_[parent - 1].parent;
  auto const level = parent == 0 ? 0 : ranges_[parent - 1].level + 1;
  ranges_.push_back({begin, end, parent, level});
  return static_cast<std::uint32_t>(ranges_.size());
}

std::uint16_t thread_ranges::level(std::uint32_t range) const {
  return static_cast<std::uint16_t>(std::min(ranges_[range - 1].level, 0xffffu));
}

std::uint32_t thread_ranges::open_at(std::uint64_t moment) const {
  constexpr std::size_t steps = 16;
  auto const has_begun = [&](std::size_t at) { return ranges_[at].begin <= moment; };
  auto at = last_;
  if (at > 0 && !has_begun(at - 1)) at = 0;
  for (std::size_t i = 0; i < steps && at < ranges_.size() && has_begun(at); ++i) ++at;
  if (at < ranges_.size() && has_begun(at))
    at = static_cast<std::size_t>(
        std::upper_bound(ranges_.begin(), ranges_.end(), moment,
                         [](std::uint64_t m, nested const& r) { return m < r.begin; }) -
        ranges_.begin());
  last_ = at;
  return not_ended(static_cast<std::uint32_t>(at), moment);
}

}  // namespace gpuprof::host

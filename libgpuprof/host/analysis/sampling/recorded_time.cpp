// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/recorded_time.hpp"

#include <algorithm>

namespace gpuprof::host {

void recorded_time::add_capture(timestamp_ns start, timestamp_ns end) {
  if (is_all_time_) captures_.clear();
  is_all_time_ = false;
  if (!captures_.empty() && start.value < captures_.back().end) return;  // of a damaged file
  if (end > start) captures_.push_back({start.value, end.value});
}

std::size_t recorded_time::at(std::uint64_t moment) const {
  auto const after =
      std::upper_bound(captures_.begin(), captures_.end(), moment,
                       [](std::uint64_t m, stretch const& capture) { return m < capture.start; });
  if (after == captures_.begin()) return captures_.size();
  auto const found = std::prev(after);
  return moment < found->end ? static_cast<std::size_t>(found - captures_.begin())
                             : captures_.size();
}

void recorded_time::see(timestamp_ns start, duration_ns duration) {
  if (duration.value <= 0) return;
  auto const end = (start + duration).value;
  last_ = std::max(last_, end);
  for (auto const i : {at(start.value), at(end - 1)}) {
    if (i == captures_.size()) continue;
    captures_[i].first = std::min(captures_[i].first, start.value);
    captures_[i].last = std::max(captures_[i].last, end);
  }
}

bool recorded_time::holds(sample_interval const& interval) const {
  auto const i = at(interval.start);
  if (i == captures_.size() || interval.end > captures_[i].end) return false;
  if (interval.end <= captures_[i].first || interval.start >= captures_[i].last) return false;
  auto const unsure = static_cast<std::uint64_t>(unsure_end_.value);
  return unsure == 0 || interval.end + unsure <= last_;
}

}  // namespace gpuprof::host

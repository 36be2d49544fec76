// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/time_ledger.hpp"

#include <algorithm>

namespace gpuprof::host {

time_ledger::time_ledger(range_tree const& ranges, std::span<std::uint32_t const> step_of_range)
    : ranges_(ranges), step_of_range_(step_of_range), key_of_range_(ranges.size()) {
  std::map<range_key, std::uint32_t> known;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    auto const [at, is_new] =
        known.try_emplace(key_of(ranges[i]), static_cast<std::uint32_t>(lines_.size()));
    if (is_new) lines_.push_back({.range = at->first, .inclusive = {}, .exclusive = {}});
    key_of_range_[i] = at->second;
  }
  lines_.push_back({.range = {}, .is_outside = true, .inclusive = {}, .exclusive = {}});
  std::uint32_t steps = 0;
  for (auto const step : step_of_range)
    if (step != no_step) steps = std::max(steps, step + 1);
  by_step_.resize(steps);
}

void time_ledger::add(device_id device, time_bucket bucket, double ns, std::uint32_t range) {
  by_device_[device][bucket] += ns;
  add_to_ranges(bucket, ns, range);
  if (range < step_of_range_.size() && step_of_range_[range] != no_step)
    by_step_[step_of_range_[range]][bucket] += ns;
}

void time_ledger::add_to_ranges(time_bucket bucket, double ns, std::uint32_t range) {
  auto& innermost = range < key_of_range_.size() ? lines_[key_of_range_[range]] : lines_.back();
  innermost.exclusive[bucket] += ns;
  innermost.inclusive[bucket] += ns;
  if (innermost.is_outside) return;
  seen_.assign(1, key_of_range_[range]);  // ranges of one name inside each other count once
  for (auto at = ranges_[range].around(); at != no_range; at = ranges_[at].around()) {
    auto const key = key_of_range_[at];
    if (std::find(seen_.begin(), seen_.end(), key) != seen_.end()) continue;
    seen_.push_back(key);
    lines_[key].inclusive[bucket] += ns;
  }
}

std::vector<time_ledger::range_line> time_ledger::by_range() const {
  std::vector<range_line> lines;
  for (auto const& line : lines_)
    if (line.inclusive.total() > 0) lines.push_back(line);
  std::stable_sort(lines.begin(), lines.end(), [](auto const& a, auto const& b) {
    return a.inclusive.total() > b.inclusive.total();
  });
  return lines;
}

bucket_times time_ledger::total() const noexcept {
  bucket_times sum;
  for (auto const& [_, times] : by_device_) sum += times;
  return sum;
}

}  // namespace gpuprof::host

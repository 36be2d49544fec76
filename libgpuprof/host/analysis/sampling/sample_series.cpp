// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/sample_series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpuprof::host {
namespace {

constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
// If neighboring ends differ by less than this share of the interval, there is no gap.
constexpr double negligible_gap = 0.05;
constexpr std::int64_t max_interval_ns = 10'000'000'000;

}  // namespace

std::uint32_t sample_series::define(std::string_view metric) {
  auto const next = static_cast<std::uint32_t>(columns_.size());
  if (metric == active_cycles_of_sm) active_ = next;
  columns_.push_back({sampled_metric_of(metric), {}, 0});
  return next;
}

std::optional<std::uint32_t> sample_series::interval_of(metric_column& of, std::uint64_t start,
                                                        std::uint64_t end, bool has_room) {
  if (of.next < intervals_.size() && intervals_[of.next].start == start)
    return static_cast<std::uint32_t>(of.next);
  if (auto const known = by_start_.find(start); known != by_start_.end()) return known->second;
  if (!has_room) return std::nullopt;
  auto const next = static_cast<std::uint32_t>(intervals_.size());
  by_start_.emplace(start, next);
  intervals_.push_back({start, end});
  return next;
}

bool sample_series::add(std::uint32_t column, timestamp_ns start, duration_ns duration,
                        double value, std::uint64_t max_places) {
  // A damaged file may contain anything.
  if (duration.value <= 0 || duration.value > max_interval_ns) return true;
  if (start.value > std::numeric_limits<std::uint64_t>::max() / 2) return true;
  if (!std::isfinite(value) || std::abs(value) > std::numeric_limits<float>::max()) return true;
  auto& of = columns_[column];
  auto const used = used_columns_ + (of.values.empty() ? 1 : 0);
  if (intervals_.size() * used > max_places) return false;
  bool const has_room = (intervals_.size() + 1) * used <= max_places;
  auto const at = interval_of(of, start.value, (start + duration).value, has_room);
  if (!at) return false;
  used_columns_ = used;
  if (of.values.size() <= *at) of.values.resize(*at + 1, nothing);
  of.values[*at] = static_cast<float>(value);
  of.next = *at + 1;
  return true;
}

void sample_series::finish() {
  by_start_ = {};
  for (auto& column : columns_)
    if (!column.values.empty()) column.values.resize(intervals_.size(), nothing);
  sort();
  if (intervals_.empty()) return;
  std::vector<std::uint64_t> lengths;
  lengths.reserve(intervals_.size());
  for (auto const& interval : intervals_) lengths.push_back(interval.end - interval.start);
  auto const middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  typical_ = static_cast<double>(*middle);
}

/// Sorts intervals by time and drops any that overlap the one before.
void sample_series::sort() {
  std::vector<std::uint32_t> order(intervals_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    return intervals_[a].start < intervals_[b].start;
  });
  std::uint64_t end = 0;
  std::erase_if(order, [&](std::uint32_t i) {
    auto const& interval = intervals_[i];
    auto const slack = static_cast<std::uint64_t>(interval.ns() * negligible_gap);
    if (interval.start + slack < end) return true;
    end = interval.end;
    return false;
  });
  arrange(order);
}

/// Reorders intervals and their values; `order` holds the old indices.
void sample_series::arrange(std::vector<std::uint32_t> const& order) {
  std::vector<sample_interval> sorted;
  sorted.reserve(order.size());
  for (auto const i : order) sorted.push_back(intervals_[i]);
  intervals_ = std::move(sorted);
  for (auto& column : columns_) {
    if (column.values.empty()) continue;
    std::vector<float> values;
    values.reserve(order.size());
    for (auto const i : order) values.push_back(column.values[i]);
    column.values = std::move(values);
  }
  find_runs();
}

void sample_series::find_runs() {
  run_.assign(intervals_.size(), 0);
  for (std::size_t i = 1; i < intervals_.size(); ++i) {
    auto const& before = intervals_[i - 1];
    auto const gap =
        static_cast<double>(static_cast<std::int64_t>(intervals_[i].start - before.end));
    run_[i] = run_[i - 1] + (std::abs(gap) > negligible_gap * before.ns() ? 1 : 0);
  }
}

double sample_series::amount(std::size_t sample, std::uint32_t column) const noexcept {
  auto const& values = columns_[column].values;
  if (values.empty()) return nothing;
  double const value = values[sample];
  switch (columns_[column].use.how) {
    case summing::amount:
      return value;
    case summing::over_time:
      return value * intervals_[sample].ns();
    case summing::over_active_cycles:
      return value * active_cycles(sample);
    case summing::never:
      break;
  }
  return nothing;
}

double sample_series::active_cycles(std::size_t sample) const noexcept {
  return active_ && !columns_[*active_].values.empty() ? columns_[*active_].values[sample]
                                                       : nothing;
}

bool sample_series::adds_up(std::uint32_t column) const noexcept {
  auto const how = columns_[column].use.how;
  return how != summing::never && (how != summing::over_active_cycles || active_);
}

std::optional<std::size_t> sample_series::at(std::uint64_t moment) const noexcept {
  auto const after = std::upper_bound(
      intervals_.begin(), intervals_.end(), moment,
      [](std::uint64_t m, sample_interval const& interval) { return m < interval.start; });
  if (after == intervals_.begin()) return std::nullopt;
  auto const found = static_cast<std::size_t>(after - intervals_.begin()) - 1;
  // A small gap to the next interval counts as part of this one.
  bool const is_inside = moment < intervals_[found].end ||
                         (found + 1 < intervals_.size() && are_joined(found, found + 1));
  return is_inside ? std::optional(found) : std::nullopt;
}

bool sample_series::touches(std::uint64_t start, std::uint64_t end) const noexcept {
  auto const ends_later = std::upper_bound(
      intervals_.begin(), intervals_.end(), start,
      [](std::uint64_t m, sample_interval const& interval) { return m < interval.end; });
  return ends_later != intervals_.end() && ends_later->start < end;
}

void recorded_time::add_capture(timestamp_ns start, timestamp_ns end) {
  if (is_all_time_) captures_.clear();
  is_all_time_ = false;
  // happens only in damaged files
  if (!captures_.empty() && start.value < captures_.back().end) return;
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

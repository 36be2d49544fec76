// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/device_work.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace gpuprof::host {

std::uint32_t device_work::kind_of(work_kind const& like) {
  auto const next = static_cast<std::uint32_t>(kinds_.size());
  auto const [at, is_new] = kind_index_.try_emplace({like.is, like.workload, like.direction}, next);
  if (is_new) kinds_.push_back(like);
  return at->second;
}

void device_work::add(std::uint32_t kind, timestamp_ns start, duration_ns duration,
                      std::uint64_t bytes) {
  if (duration.value <= 0) return;
  items_.push_back({start.value, (start + duration).value, kind, static_cast<float>(bytes), false});
}

void device_work::add_launch(workload_id const& workload, correlation_id correlation,
                             timestamp_ns start, duration_ns duration) {
  auto const end = start + duration;
  if (raw(workload.graph) == 0) {
    if (samples_.touches(start.value, end.value))
      add(kind_of({work_kind::what::launch, workload}), start, duration, 0);
    return;
  }
  auto const next = static_cast<std::uint32_t>(items_.size());
  auto const [at, is_new] = graph_items_.try_emplace(raw(correlation), next);
  if (is_new) {
    add(kind_of({work_kind::what::launch, workload}), start, duration, 0);
    if (items_.size() == next) graph_items_.erase(at);
    return;
  }
  auto& item = items_[at->second];
  item.start = std::min(item.start, start.value);
  item.end = std::max(item.end, end.value);
}

void device_work::add_copy(copy_record const& copy) {
  if (samples_.touches(copy.start.value, (copy.start + copy.duration).value))
    add(kind_of({work_kind::what::copy, {}, copy.kind}), copy.start, copy.duration, copy.bytes);
}

void device_work::add_fill(memset_record const& fill) {
  if (samples_.touches(fill.start.value, (fill.start + fill.duration).value))
    add(kind_of({work_kind::what::fill, {}}), fill.start, fill.duration, fill.bytes);
}

void device_work::finish() {
  graph_items_ = {};
  std::erase_if(items_,
                [this](work_item const& item) { return !samples_.touches(item.start, item.end); });
  std::sort(items_.begin(), items_.end(), [](work_item const& a, work_item const& b) {
    return std::tie(a.start, a.end, a.kind) < std::tie(b.start, b.end, b.kind);
  });
  divide_by_length(0);
  count();
  find_alone();
  find_shared_time();
}

void device_work::count() {
  for (auto& kind : kinds_) {
    kind.times = kind.begun = 0;
    kind.ns = kind.shared_ns = 0;
  }
  for (auto const& item : items_) {
    auto& kind = kinds_[item.kind];
    ++kind.times;
    kind.begun += begins_in_sample(item);
    kind.ns += static_cast<double>(item.length());
  }
}

void device_work::join(std::span<std::uint32_t const> numbers) {
  auto const first = static_cast<std::uint32_t>(kinds_.size());
  std::map<std::uint32_t, std::uint32_t> joined;
  for (auto& item : items_) {
    if (numbers[item.kind] == 0) continue;
    auto const next = static_cast<std::uint32_t>(kinds_.size());
    auto const [kind, is_new] = joined.try_emplace(numbers[item.kind], next);
    if (is_new) kinds_.push_back(kinds_[item.kind]);
    item.kind = kind->second;
  }
  divide_by_length(first);
  count();
  find_shared_time();
}

device_work device_work::only(std::vector<bool> const& keeps) const {
  auto kept = *this;
  std::erase_if(kept.items_, [&](work_item const& item) { return !keeps[item.kind]; });
  kept.find_alone();
  return kept;
}

/// Splits launches of one workload into several kinds if their lengths differ too much for one
/// amount.
void device_work::divide_by_length(std::uint32_t first_kind) {
  std::vector<std::vector<std::uint64_t>> lengths(kinds_.size());
  for (auto const& item : items_)
    if (item.kind >= first_kind && kinds_[item.kind].is == work_kind::what::launch)
      lengths[item.kind].push_back(item.length());
  struct classes {
    std::vector<std::uint64_t> limits;
    std::uint32_t second = 0;  // kind of the second class; the first class keeps the old kind
  };
  std::vector<classes> divided(lengths.size());
  for (std::size_t kind = 0; kind < divided.size(); ++kind) {
    divided[kind].limits = length_limits(std::move(lengths[kind]));
    divided[kind].second = static_cast<std::uint32_t>(kinds_.size());
    auto const like = kinds_[kind];
    kinds_.insert(kinds_.end(), divided[kind].limits.size(), like);
  }
  for (auto& item : items_) {
    auto const& [limits, second] = divided[item.kind];
    auto const above = std::upper_bound(limits.begin(), limits.end(), item.length());
    if (above != limits.begin())
      item.kind = second + static_cast<std::uint32_t>(above - limits.begin()) - 1;
  }
}

void device_work::find_alone() {
  std::uint64_t latest_end = 0;  // of all earlier items
  for (std::size_t i = 0; i < items_.size(); ++i) {
    auto& item = items_[i];
    bool const after_all = latest_end <= item.start + clock_slack_ns;
    bool const before_next =
        i + 1 == items_.size() || items_[i + 1].start + clock_slack_ns >= item.end;
    item.is_alone = after_all && before_next;
    latest_end = std::max(latest_end, item.end);
  }
}

/// Sums, for each kind, the time in which at least two launches ran.
void device_work::find_shared_time() {
  std::vector<std::uint32_t> by_start;
  for (std::uint32_t i = 0; i < items_.size(); ++i)
    if (kinds_[items_[i].kind].is == work_kind::what::launch) by_start.push_back(i);
  auto by_end = by_start;
  std::sort(by_end.begin(), by_end.end(),
            [this](std::uint32_t a, std::uint32_t b) { return items_[a].end < items_[b].end; });
  double together = 0;
  std::uint64_t running = 0, now = 0;
  auto const move_to = [&](std::uint64_t moment) {
    if (running >= 2) together += static_cast<double>(moment - now);
    now = moment;
  };
  for (std::size_t start = 0, end = 0; end < by_end.size();) {
    auto const& ending = items_[by_end[end]];
    if (start < by_start.size() && items_[by_start[start]].start < ending.end) {
      auto const& starting = items_[by_start[start++]];
      move_to(starting.start);
      ++running;
      kinds_[starting.kind].shared_ns -= together;
    } else {
      move_to(ending.end);
      --running;
      kinds_[ending.kind].shared_ns += together;
      ++end;
    }
  }
}

namespace {

// Launches are alike if the standard deviation of their lengths is below this share of the mean.
constexpr double alike_within = 0.2;
// The longest of a class divided by its shortest. Increased if there would be too many classes.
constexpr double class_width = 1.6;
constexpr std::size_t max_classes = 8;
// Classes without a figure may have up to this share of the time, for example launches that were
// held up. The error assumes that they differ by that share.
constexpr double max_unknown = 0.25;

bool are_alike(std::span<std::uint64_t const> lengths) {
  double sum = 0, squares = 0;
  for (auto const length : lengths) sum += static_cast<double>(length);
  auto const n = static_cast<double>(lengths.size());
  for (auto const length : lengths) {
    auto const off = static_cast<double>(length) - sum / n;
    squares += off * off;
  }
  return std::sqrt(squares / n) <= alike_within * sum / n;
}

std::vector<std::uint64_t> limits_by_width(std::span<std::uint64_t const> sorted, double width) {
  std::vector<std::uint64_t> limits;
  auto shortest = static_cast<double>(sorted.front());
  for (auto const length : sorted) {
    if (static_cast<double>(length) <= shortest * width) continue;
    limits.push_back(length);
    shortest = static_cast<double>(length);
  }
  return limits;
}

}  // namespace

std::vector<std::uint64_t> length_limits(std::vector<std::uint64_t> lengths) {
  if (lengths.empty() || are_alike(lengths)) return {};
  std::sort(lengths.begin(), lengths.end());
  auto width = class_width;
  auto limits = limits_by_width(lengths, width);
  while (limits.size() >= max_classes) limits = limits_by_width(lengths, width *= class_width);
  return limits;
}

std::optional<sampled_figure> put_together(std::span<class_figure const> classes, summing how) {
  if (classes.size() == 1) return classes.front().figure;
  double all_ns = 0, known_ns = 0, weights = 0;
  sampled_figure all;
  auto const weight_of = [&](class_figure const& of) {
    return how == summing::amount ? static_cast<double>(of.launches) : of.ns;
  };
  for (auto const& of : classes) {
    all_ns += of.ns;
    auto const weight = weight_of(of);
    if (!of.figure || !(weight > 0)) continue;
    known_ns += of.ns;
    weights += weight;
    all.mean += weight * of.figure->mean;
    // values of one fit may all be wrong in the same direction
    all.error += weight * of.figure->error;
    all.doubt += weight * of.figure->doubt;
    all.launches += of.figure->launches;
    all.is_fitted = all.is_fitted || of.figure->is_fitted;
  }
  auto const unknown = all_ns > 0 ? 1 - known_ns / all_ns : 1;
  if (!(weights > 0) || unknown > max_unknown) return std::nullopt;
  all.mean /= weights;
  all.doubt /= weights;
  // The number of sampled launches per class also varies by chance.
  double squares = 0, launches = 0;
  for (auto const& of : classes) {
    if (!of.figure) continue;
    auto const off = of.figure->mean - all.mean;
    squares += weight_of(of) * off * off;
    launches += static_cast<double>(of.launches);
  }
  auto const mix = launches > 0 ? std::sqrt(squares / weights / launches) : 0;
  all.error = std::hypot(all.error / weights, mix, unknown * all.mean);
  all.doubt = std::hypot(all.doubt, unknown * all.mean);
  return all;
}

}  // namespace gpuprof::host

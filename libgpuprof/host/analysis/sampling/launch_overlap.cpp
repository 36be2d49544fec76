// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/attribution_steps.hpp"
#include "host/analysis/sampling/sampled_figure.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::host {
namespace {

/// A launch starts and ends at a different rate than in its middle: the error of the edges, as a
/// share of their amount.
constexpr double edge_doubt = 0.1;
/// If the launches covered by samples differ more than this in mean length from all of their kind,
/// they are not used.
constexpr double max_unlike = 0.05;
/// Error of the split of a shared edge, as a share of its distance from an even split.
constexpr double split_doubt = 0.25;

struct share {
  double amount = 0, doubt = 0;
};

double from_to(std::uint64_t start, std::uint64_t end) noexcept {
  return end > start ? static_cast<double>(end - start) : 0;
}

/// The samples of a launch. The first and last contain its edges, or start and end with it.
struct covered_launch {
  work_item const* item = nullptr;
  std::size_t first = 0, last = 0;
  bool shares_first = false, shares_last = false;  // with other work in the sample
  // Time of another launch in that sample, if that launch also fills the next sample outward; else
  // 0.
  double other_in_first_ns = 0, other_in_last_ns = 0;
};

/// Launches whose whole time is sampled, with or without other work.
struct complete_launches {
  std::uint64_t count = 0;
  double ns = 0;
  double mean_ns() const noexcept { return ns / static_cast<double>(count); }
};

/// Sums over the launches of one kind: amounts and their divisors.
struct launch_sums {
  std::uint64_t launches = 0;
  double ns = 0;
  double amount = 0, divisor = 0;
  double amount2 = 0, divisor2 = 0, product = 0;
  double doubt = 0;

  void add(share const& of, double by, double length) noexcept {
    ++launches;
    ns += length;
    amount += of.amount;
    divisor += by;
    amount2 += of.amount * of.amount;
    divisor2 += by * by;
    product += of.amount * by;
    doubt += of.doubt;
  }
  /// Relative difference of their mean length from that of all complete launches of the kind.
  double unlike(complete_launches const& all) const noexcept {
    return std::abs(ns / static_cast<double>(launches) / all.mean_ns() - 1);
  }
  /// Doubts do not average out, because the edges of a kernel are alike. `usual` is the GPU's
  /// average amount in that time; it sets the least error of a figure near 0.
  sampled_figure figure(double unlike_others, double usual) const noexcept {
    auto const n = static_cast<double>(launches);
    auto const ratio = amount / divisor;
    auto const squares = std::max(0.0, amount2 - 2 * ratio * product + ratio * ratio * divisor2);
    auto const scatter = launches < 2 ? 0 : n / (n - 1) * squares / (divisor * divisor);
    auto const bias = std::hypot(unlike_others * ratio, least_doubt * std::max(ratio, usual));
    auto const unsure = std::hypot(doubt / divisor, bias);
    return {ratio, std::hypot(std::sqrt(scatter), unsure), launches, false, unsure};
  }
};

/// A sample at an edge, its two neighbors, and the time of the launch and of the other one in it.
struct edge_of_launch {
  std::size_t edge = 0, inner = 0, outer = 0;
  double ns = 0, other_ns = 0;
};

/// Splits a sample that the launch shares with other work. Assumes the rate of the neighboring
/// sample inside the launch. If the other launch fills the outer neighbor, the sample is divided in
/// proportion to both rates.
share share_of_edge(sample_series const& samples, std::uint32_t column,
                    edge_of_launch const& launch) {
  auto const all = samples.amount(launch.edge, column);
  if (std::isnan(all)) return {all, 0};
  auto const& intervals = samples.intervals();
  auto const at_rate_of = [&](std::size_t sample, double ns) {
    return std::max(0.0, samples.amount(sample, column) * ns / intervals[sample].ns());
  };
  auto const even = all * launch.ns / intervals[launch.edge].ns();
  auto const own = at_rate_of(launch.inner, launch.ns);
  auto mine = std::min(own, std::max(0.0, all));
  if (launch.other_ns > 0 && !std::isnan(samples.amount(launch.outer, column))) {
    auto const both = own + at_rate_of(launch.outer, launch.other_ns);
    if (both > 0) mine = std::max(0.0, all) * own / both;
  }
  return {mine, std::hypot(edge_doubt * mine, split_doubt * (mine - even))};
}

class by_overlap {
 public:
  by_overlap(sample_series const& samples, device_work const& work,
             std::span<std::uint32_t const> columns)
      : samples_(samples),
        work_(work),
        columns_(columns),
        complete_(work.kinds().size()),
        sums_(work.kinds().size()) {}

  void run() {
    auto const items = work_.items();
    std::uint64_t latest_end = 0;  // of all earlier items
    for (std::size_t i = 0; i < items.size(); ++i) {
      note_complete(items[i]);
      auto const next_start = i + 1 < items.size() ? items[i + 1].start : ~std::uint64_t{0};
      if (auto found = cover(items[i], latest_end, next_start)) {
        if (i > 0) found->other_in_first_ns = fills_before(items[i - 1], found->first);
        if (i + 1 < items.size()) found->other_in_last_ns = fills_after(items[i + 1], found->last);
        take(*found);
      }
      latest_end = std::max(latest_end, items[i].end);
    }
  }

  void put(figure_grid& figures) const {
    auto const usual = mean_rates();
    for (std::size_t kind = 0; kind < sums_.size(); ++kind)
      for (std::size_t i = 0; i < sums_[kind].size(); ++i) {
        auto const& sums = sums_[kind][i];
        if (sums.launches == 0 || !(sums.divisor > 0)) continue;
        auto const unlike = sums.unlike(complete_[kind]);
        if (unlike > max_unlike) continue;
        figures[kind][columns_[i]] = sums.figure(unlike, usual[i] * sums.ns / sums.divisor);
      }
  }

 private:
  void note_complete(work_item const& item) {
    if (!is_long(item.kind)) return;
    auto const first = samples_.at(item.start), last = samples_.at(item.end - 1);
    if (!first || !last || !samples_.are_joined(*first, *last)) return;
    ++complete_[item.kind].count;
    complete_[item.kind].ns += static_cast<double>(item.length());
  }

  bool is_long(std::uint32_t kind) const {
    auto const& of = work_.kinds()[kind];
    return of.is == work_kind::what::launch &&
           of.mean_ns() >= intervals_of_long_launch * samples_.typical_interval();
  }

  /// Average amount per ns over all samples.
  std::vector<double> mean_rates() const {
    std::vector<double> rates;
    for (auto const column : columns_) {
      double amount = 0, ns = 0;
      for (std::size_t s = 0; s < samples_.size(); ++s) {
        auto const here = samples_.amount(s, column);
        if (std::isnan(here)) continue;
        amount += here;
        ns += samples_.intervals()[s].ns();
      }
      rates.push_back(ns > 0 ? amount / ns : 0);
    }
    return rates;
  }

  std::optional<covered_launch> cover(work_item const& item, std::uint64_t end_before,
                                      std::uint64_t start_after) const {
    if (!item.is_alone || !is_long(item.kind)) return std::nullopt;
    auto const first = samples_.at(item.start), last = samples_.at(item.end - 1);
    if (!first || !last || *last < *first + 2 || !samples_.are_joined(*first, *last))
      return std::nullopt;
    return covered_launch{&item, *first, *last, end_before > samples_.intervals()[*first].start,
                          start_after < samples_.intervals()[*last].end};
  }

  /// Time of the previous launch in the edge sample, if that launch had the GPU to itself and fills
  /// the sample before. Otherwise 0.
  double fills_before(work_item const& other, std::size_t edge) const {
    auto const& intervals = samples_.intervals();
    if (edge == 0 || !other.is_alone || !samples_.are_joined(edge - 1, edge) ||
        other.start > intervals[edge - 1].start)
      return 0;
    return from_to(intervals[edge].start, other.end);
  }
  double fills_after(work_item const& other, std::size_t edge) const {
    auto const& intervals = samples_.intervals();
    if (edge + 1 >= samples_.size() || !other.is_alone || !samples_.are_joined(edge, edge + 1) ||
        other.end < intervals[edge + 1].end)
      return 0;
    return from_to(other.start, intervals[edge].end);
  }

  void take(covered_launch const& launch) {
    auto& of_kind = sums_[launch.item->kind];
    of_kind.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      auto const amount = sum(launch, columns_[i]);
      auto const divisor = divisor_of(launch, columns_[i]);
      if (!std::isnan(amount.amount) && !std::isnan(divisor))
        of_kind[i].add(amount, divisor, static_cast<double>(launch.item->length()));
    }
  }

  share sum(covered_launch const& launch, std::uint32_t column) const {
    share all;
    for (auto s = launch.first + 1; s < launch.last; ++s) all.amount += samples_.amount(s, column);
    auto const& intervals = samples_.intervals();
    auto const add_edge = [&](bool is_shared, edge_of_launch const& at) {
      auto const of_edge = is_shared ? share_of_edge(samples_, column, at)
                                     : share{samples_.amount(at.edge, column), 0};
      all.amount += of_edge.amount;
      auto const rate = std::abs(samples_.amount(at.inner, column)) / intervals[at.inner].ns();
      all.doubt += std::hypot(of_edge.doubt, rate * double{clock_slack_ns});
    };
    add_edge(launch.shares_first,
             {launch.first, launch.first + 1, launch.first - 1,
              from_to(launch.item->start, intervals[launch.first].end), launch.other_in_first_ns});
    add_edge(launch.shares_last,
             {launch.last, launch.last - 1, launch.last + 1,
              from_to(intervals[launch.last].start, launch.item->end), launch.other_in_last_ns});
    return all;
  }

  double divisor_of(covered_launch const& launch, std::uint32_t column) const {
    switch (samples_.metric(column).how) {
      case summing::over_time:
        return static_cast<double>(launch.item->length());
      case summing::over_active_cycles:
        return sum(launch, samples_.active_cycles_column()).amount;
      default:
        return 1;
    }
  }

  sample_series const& samples_;
  device_work const& work_;
  std::span<std::uint32_t const> columns_;
  std::vector<complete_launches> complete_;     // by kind
  std::vector<std::vector<launch_sums>> sums_;  // by kind, then in the order of `columns_`
};

}  // namespace

void attribute_by_overlap(sample_series const& samples, device_work const& work,
                          std::span<std::uint32_t const> columns, figure_grid& figures) {
  by_overlap attribution(samples, work, columns);
  attribution.run();
  attribution.put(figures);
}

}  // namespace gpuprof::host

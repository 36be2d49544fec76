#include "analyse/sampling/launch_overlap.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof {
namespace {

/// At the edges a launch starts up or runs out, at another rate than next to them: by about so
/// much of what is taken from there.
constexpr double edge_doubt = 0.1;
/// Ends of records are off by as much as work may overlap: that much of the rate at the edges is
/// not sure, and launches are never alike to the last count.
constexpr double least_doubt = 0.002;
/// Those that lie in whole samples may differ so much in mean length from all of their kind.
constexpr double most_unlike = 0.05;
/// How far the rate next to a shared edge may be wrong, as a share of what an even split says.
constexpr double split_doubt = 0.25;

struct share {
  double amount = 0, doubt = 0;
};

double from_to(std::uint64_t start, std::uint64_t end) noexcept {
  return end > start ? static_cast<double>(end - start) : 0;
}

/// Samples of a launch: first and last hold its edges, or are the whole of it.
struct covered_launch {
  work_item const* item = nullptr;
  std::size_t first = 0, last = 0;
  bool shares_first = false, shares_last = false;  // with other work
};

/// Launches that lie in samples from end to end, whether these are theirs alone or not.
struct complete_launches {
  std::uint64_t count = 0;
  double ns = 0;
  double mean_ns() const noexcept { return ns / static_cast<double>(count); }
};

/// Sums over the launches of one kind: amounts, and what they are to be divided by.
struct launch_sums {
  std::uint64_t launches = 0;
  double ns = 0;
  double amount = 0, divisor = 0;
  double amount2 = 0, divisor2 = 0, product = 0;
  double doubt = 0;

  void add(share const& of, double by, double length) noexcept {
    ++launches;
    ns += length;
    amount += of.amount, divisor += by;
    amount2 += of.amount * of.amount, divisor2 += by * by, product += of.amount * by;
    doubt += of.doubt;
  }
  /// By how much they are longer or shorter than all of their kind.
  double unlike(complete_launches const& all) const noexcept {
    return std::abs(ns / static_cast<double>(launches) / all.mean_ns() - 1);
  }
  /// Doubts do not average out: edges of one kernel are alike. `usual`: what the GPU does on
  /// average in that time, for how sure a figure is that is next to nothing.
  sampled_figure figure(double unlike_others, double usual) const noexcept {
    auto const n = static_cast<double>(launches);
    auto const ratio = amount / divisor;
    auto const squares = std::max(0.0, amount2 - 2 * ratio * product + ratio * ratio * divisor2);
    auto const scatter = launches < 2 ? 0 : n / (n - 1) * squares / (divisor * divisor);
    auto const bias = std::hypot(unlike_others * ratio, least_doubt * std::max(ratio, usual));
    return {ratio, std::hypot(std::sqrt(scatter), doubt / divisor, bias), launches, false};
  }
};

/// Part of a sample that other work shares: as much as the launch counts in the sample next to it.
share share_of_edge(sample_series const& samples, std::uint32_t column, std::size_t edge,
                    std::size_t inner, double ns) {
  auto const all = samples.amount(edge, column);
  if (std::isnan(all)) return {all, 0};
  auto const& intervals = samples.intervals();
  auto const even = all * ns / intervals[edge].ns();
  auto const by_rate = std::clamp(samples.amount(inner, column) * ns / intervals[inner].ns(), 0.0,
                                  std::max(0.0, all));
  return {by_rate, std::hypot(edge_doubt * by_rate, split_doubt * (by_rate - even))};
}

class by_overlap {
 public:
  by_overlap(sample_series const& samples, device_work const& work)
      : samples_(samples), work_(work), complete_(work.kinds().size()), sums_(work.kinds().size()) {
    for (std::uint32_t c = 0; c < samples.columns(); ++c)
      if (samples.adds_up(c) && !samples.metric(c).runs_when_idle) columns_.push_back(c);
  }

  void run() {
    auto const items = work_.items();
    std::uint64_t latest_end = 0;  // of all before
    for (std::size_t i = 0; i < items.size(); ++i) {
      note_complete(items[i]);
      auto const next_start = i + 1 < items.size() ? items[i + 1].start : ~std::uint64_t{0};
      if (auto const found = cover(items[i], latest_end, next_start)) take(*found);
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
        if (unlike > most_unlike) continue;
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

  /// What the GPU did each ns of all samples.
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
    auto const add_edge = [&](bool is_shared, std::size_t edge, std::size_t inner, double ns) {
      auto const of_edge = is_shared ? share_of_edge(samples_, column, edge, inner, ns)
                                     : share{samples_.amount(edge, column), 0};
      all.amount += of_edge.amount;
      auto const rate = std::abs(samples_.amount(inner, column)) / intervals[inner].ns();
      all.doubt += std::hypot(of_edge.doubt, rate * double{clock_slack_ns});
    };
    add_edge(launch.shares_first, launch.first, launch.first + 1,
             from_to(launch.item->start, intervals[launch.first].end));
    add_edge(launch.shares_last, launch.last, launch.last - 1,
             from_to(intervals[launch.last].start, launch.item->end));
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
  std::vector<std::uint32_t> columns_;
  std::vector<complete_launches> complete_;     // by kind
  std::vector<std::vector<launch_sums>> sums_;  // by kind, then as columns_
};

}  // namespace

void attribute_by_overlap(sample_series const& samples, device_work const& work,
                          figure_grid& figures) {
  by_overlap attribution(samples, work);
  attribution.run();
  attribution.put(figures);
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/fit_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {
namespace {

// Shorter launches are fitted even if they have a figure, because their ends are a large part of
// them.
constexpr double intervals_of_sure_launch = 6;
constexpr std::uint32_t rate_columns = 5;
constexpr auto no_place = ~std::uint32_t{0};

// Conditions for a term that describes uneven work: shorter ones are lost in clock noise, and each
// term needs samples at many moments of the kernel.
constexpr double ns_of_term = 250;
constexpr std::uint64_t samples_of_term = 100;
// For all unknowns together.
constexpr std::size_t samples_of_unknown = 4;

}  // namespace

bool has_figure(sample_series const& samples,
                std::vector<std::optional<sampled_figure>> const& figures) {
  for (std::uint32_t c = 0; c < figures.size(); ++c)
    if (figures[c] && !samples.metric(c).runs_when_idle) return true;
  return false;
}

fit_columns::fit_columns(sample_series const& samples, device_work const& work,
                         figure_grid const& figures, std::span<std::uint32_t const> metrics,
                         std::size_t max_unknowns)
    : samples_(samples),
      work_(work),
      metrics_(metrics),
      max_unknowns_(max_unknowns),
      wanted_(work.kinds().size()),
      own_(work.kinds().size()),
      has_all_terms_(work.kinds().size()),
      touched_(work.kinds().size()),
      column_(work.kinds().size()),
      width_(work.kinds().size()),
      used_(samples.size()) {
  auto const sure = intervals_of_sure_launch * samples.typical_interval();
  for (std::uint32_t kind = 0; kind < wanted_.size(); ++kind)
    wanted_[kind] =
        is_launch(kind) && (lacks_any(kind, figures) || work.kinds()[kind].mean_ns() < sure);
  look_through();
  choose_widths();
  number();
}

bool fit_columns::lacks_any(std::uint32_t kind, figure_grid const& figures) const {
  return std::any_of(metrics_.begin(), metrics_.end(),
                     [&](std::uint32_t metric) { return !figures[kind][metric]; });
}

void fit_columns::look_through() {
  std::vector<std::size_t> last(touched_.size(), samples_.size());  // last sample, by kind
  sweep_samples(samples_, work_, [&](std::size_t s, std::span<work_part const> parts, double) {
    if (std::isnan(samples_.amount(s, metrics_.front()))) return;
    used_[s] = parts.empty() || std::any_of(parts.begin(), parts.end(), [&](work_part const& part) {
                 return wanted_[part.item->kind];
               });
    if (!used_[s]) return;
    ++used_samples_;
    for (auto const& part : parts)
      if (std::exchange(last[part.item->kind], s) != s) ++touched_[part.item->kind];
  });
}

std::vector<std::uint32_t> fit_columns::longest_first() const {
  std::vector<std::uint32_t> longest(column_.size());
  std::iota(longest.begin(), longest.end(), 0u);
  std::stable_sort(longest.begin(), longest.end(), [this](std::uint32_t a, std::uint32_t b) {
    return work_.kinds()[a].ns > work_.kinds()[b].ns;
  });
  return longest;
}

/// The number of terms that length and samples of the kind allow.
std::uint32_t fit_columns::terms_for(std::uint32_t kind) const noexcept {
  auto const by_length = work_.kinds()[kind].mean_ns() / ns_of_term;
  auto const by_samples = std::floor(static_cast<double>(touched_[kind]) / samples_of_term);
  return static_cast<std::uint32_t>(
      std::clamp<double>(std::min(by_length, by_samples), min_terms, max_terms));
}

/// First gives every kind a few terms, then divides a third of the remaining room, one term at a
/// time.
void fit_columns::choose_widths() {
  auto const longest = longest_first();
  std::size_t all = 0;
  for (auto const kind : longest) {
    auto const columns = !is_launch(kind) ? 1 : wanted_[kind] ? min_terms : rate_columns;
    own_[kind] = has_enough(kind) && all + columns <= max_unknowns_;
    if (!own_[kind]) continue;
    width_[kind] = columns;
    all += columns;
  }
  auto const most = std::min(all + (max_unknowns_ - all) / 3, used_samples_ / samples_of_unknown);
  for (auto width = min_terms; width < max_terms; ++width)
    for (auto const kind : longest) {
      if (!own_[kind] || !is_launch(kind) || !wanted_[kind]) continue;
      if (width_[kind] != width || terms_for(kind) <= width || all >= most) continue;
      ++width_[kind];
      ++all;
    }
}

void fit_columns::number() {
  std::uint32_t next = 0;
  is_signed_.clear();
  for (std::uint32_t kind = 0; kind < own_.size(); ++kind) {
    if (!own_[kind]) continue;
    column_[kind] = next;
    next += width_[kind];
    is_signed_.resize(next);
    auto const first_signed = wanted_[kind] ? column_[kind] + 1 : next - 2;
    if (is_launch(kind)) std::fill(is_signed_.begin() + first_signed, is_signed_.end(), true);
  }
  other_ = next++;
  idle_ = next++;
  for (std::size_t kind = 0; kind < own_.size(); ++kind)
    if (!own_[kind]) column_[kind] = other_;
  is_signed_.resize(next);
  place_.assign(next, no_place);
}

/// Values of the Legendre polynomials at this share of the time, shifted to 0..1.
fit_columns::terms fit_columns::slopes_at(double share) noexcept {
  auto const x = 2 * share - 1;
  terms of{1, x};
  for (std::size_t n = 1; n + 1 < of.size(); ++n) {
    auto const order = static_cast<double>(n);
    of[n + 1] = ((2 * order + 1) * x * of[n] - order * of[n - 1]) / (order + 1);
  }
  return of;
}

/// Their integrals. At the end of the time all but the first are 0 again.
fit_columns::terms fit_columns::amounts_until(double share) noexcept {
  auto const slopes = slopes_at(share);
  auto const x = 2 * share - 1;
  terms of{share};
  for (std::size_t n = 1; n < of.size(); ++n) {
    auto const order = static_cast<double>(n);
    of[n] = (x * slopes[n] - slopes[n - 1]) / (2 * (order + 1));
  }
  return of;
}

void fit_columns::put(std::uint32_t column, double value) {
  auto& place = place_[column];
  if (place == no_place) {
    place = static_cast<std::uint32_t>(row_.size());
    row_.emplace_back(column, 0.0);
  }
  row_[place].second += value;
}

void fit_columns::put_wanted(work_part const& part) {
  auto const first = column_[part.item->kind];
  put(first, part.share());
  if (part.cuts() == 0) return;
  auto const begin = amounts_until(part.share_before());
  auto const end = amounts_until(part.share_before() + part.share());
  for (std::uint32_t n = 1; n < columns_of(part.item->kind); ++n) put(first + n, end[n] - begin[n]);
}

void fit_columns::put_other(work_part const& part) {
  auto const first = column_[part.item->kind];
  if (part.cuts() == 2) return put(first, part.ns);
  auto const square = part.ns * part.ns / samples_.typical_interval();
  put(first + (part.is_begun ? 2 : 1), part.ns);
  put(first + (part.is_begun ? 4 : 3), square);
}

std::vector<std::pair<std::uint32_t, double>> const& fit_columns::row(
    std::size_t sample, std::span<work_part const> parts, double busy) {
  row_.clear();
  for (auto const& part : parts) {
    auto const kind = part.item->kind;
    if (!own_[kind])
      put(other_, part.ns);
    else if (!is_launch(kind))
      put(column_[kind], part.share() * double{part.item->bytes});
    else if (wanted_[kind])
      put_wanted(part);
    else
      put_other(part);
  }
  if (auto const idle = samples_.intervals()[sample].ns() - busy; idle > 0) put(idle_, idle);
  for (auto const& [column, value] : row_) place_[column] = no_place;
  return row_;
}

namespace {

constexpr double usual_noise_ns = 58;  // 100 / sqrt(3)
constexpr double max_gap_ns = 2000;    // longer gaps are waits for the program
constexpr std::uint64_t enough_gaps = 50;
// The lowest deviation may be low by chance, so the one at this fraction of the pairs is used.
constexpr std::size_t steadiest = 10;

// The sampling clock has some noise of its own, whatever the gaps between records say.
constexpr double least_noise_ns = 30;

}  // namespace

double clock_noise_of(device_work const& work) {
  std::unordered_map<std::uint64_t, running_mean> gaps;
  auto const items = work.items();
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    auto const &before = items[i], &after = items[i + 1];
    if (!before.is_alone || !after.is_alone) continue;
    auto const gap = static_cast<double>(static_cast<std::int64_t>(after.start - before.end));
    if (gap <= max_gap_ns) gaps[std::uint64_t{before.kind} << 32 | after.kind].add(gap);
  }
  std::vector<double> deviations;
  for (auto const& [pair, of_pair] : gaps)
    if (of_pair.count() >= enough_gaps) deviations.push_back(of_pair.deviation());
  if (deviations.empty()) return usual_noise_ns;
  auto const found =
      deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / steadiest);
  std::nth_element(deviations.begin(), found, deviations.end());
  return std::min(usual_noise_ns, *found / std::numbers::sqrt2);
}

void clock_blur::clear() {
  noise_.assign(columns_.size(), 0);
  products_.assign(columns_.size() * columns_.size(), 0);
}

/// Calls f(of_cut) for each cut. Returns what the noise adds to the square of the idle-time entry.
template <class F>
double clock_blur::each_cut(work_part const& part, F f) const {
  auto const square = noise_ns_ * noise_ns_;
  columns_.each_cut(part, [&](std::uint32_t first, double share, std::span<double const> slopes) {
    auto const by_start = (1 - share) / part.length(), by_end = share / part.length();
    auto const has_idle = part.item->is_alone && part.cuts() != 2;
    f(of_cut{first, slopes, square * (by_start * by_start + by_end * by_end),
             has_idle ? -square * (part.is_begun ? by_end : by_start) : 0});
  });
  return part.item->is_alone ? square * (2 - part.cuts()) : 0;
}

void clock_blur::add(work_part const& part) {
  // The largest error of an end.
  auto const max_noise_ns = std::max(least_noise_ns, std::numbers::sqrt3 * noise_ns_);
  auto const off = max_noise_ns / part.length();
  noise_[columns_.of(part.item->kind)] += part.cuts() * off * off;
  auto const n = columns_.size();
  auto const idle = columns_.idle();
  products_[idle * n + idle] += each_cut(part, [&](of_cut const& cut) {
    for (std::uint32_t i = 0; i < cut.slopes.size(); ++i) {
      auto* const row = products_.data() + (cut.first + i) * n;
      for (std::uint32_t j = 0; j < cut.slopes.size(); ++j)
        row[cut.first + j] += cut.own * cut.slopes[i] * cut.slopes[j];
      row[idle] += cut.with_idle * cut.slopes[i];
      products_[idle * n + cut.first + i] += cut.with_idle * cut.slopes[i];
    }
  });
}

void clock_blur::add_times(work_part const& part, std::vector<double> const& solution,
                           std::vector<double>& to) const {
  auto const idle = columns_.idle();
  to[idle] += solution[idle] * each_cut(part, [&](of_cut const& cut) {
                auto const at_cut = std::inner_product(cut.slopes.begin(), cut.slopes.end(),
                                                       solution.begin() + cut.first, 0.);
                to[idle] += cut.with_idle * at_cut;
                for (std::uint32_t i = 0; i < cut.slopes.size(); ++i)
                  to[cut.first + i] +=
                      cut.slopes[i] * (cut.own * at_cut + cut.with_idle * solution[idle]);
              });
}

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/clock_noise.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {
namespace {

constexpr double usual_noise_ns = 58;  // 100 / sqrt(3)
constexpr double max_gap_ns = 2000;    // longer ones wait for the program
constexpr std::uint64_t enough_gaps = 50;
// So many pairs that vary least are used, because the very least varies so little by chance.
constexpr std::size_t steadiest = 10;

// The clock of the samples is off by a little of its own, whatever gaps between records say.
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

/// Calls f(of_cut) for each cut, and returns what that adds to the square of the entry of idle
/// time.
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
  // Ends are off by anything up to this.
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

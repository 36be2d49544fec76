// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/sampling/clock_blur.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>

namespace gpuprof {
namespace {

// The clock of the samples is off by a little of its own, whatever gaps between records say.
constexpr double least_noise_ns = 30;

}  // namespace

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

}  // namespace gpuprof

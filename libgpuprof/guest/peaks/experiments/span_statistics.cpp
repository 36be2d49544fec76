// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/experiments/span_statistics.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace gpuprof::guest::peaks {
namespace {

/// When an SM was busy, by its own counter, and with how many blocks.
struct sm_stretch {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  unsigned blocks = 0;
};

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double spread_of(std::vector<double> const& values) {
  auto const median = median_of(values);
  if (median == 0) return 0;
  auto const [least, greatest] = std::minmax_element(values.begin(), values.end());
  return (*greatest - *least) / median;
}

double seconds_between(std::span<block_span const> starts, std::span<block_span const> ends) {
  if (starts.empty() || ends.empty()) return 0;
  auto first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  for (auto const& s : starts) first = std::min(first, s.start_time);
  for (auto const& e : ends) last = std::max(last, e.end_time);
  return last > first ? static_cast<double>(last - first) * 1e-9 : 0;
}

launch_rates rates_of(std::span<block_span const> blocks, double work) {
  launch_rates rates;
  rates.folds_agree =
      !blocks.empty() && std::all_of(blocks.begin(), blocks.end(), [&](block_span const& b) {
        return b.fold == blocks.front().fold;
      });
  std::map<std::uint32_t, sm_stretch> sms;
  std::vector<double> clocks, per_clock;
  for (auto const& b : blocks) {
    if (b.end_clock <= b.start_clock || b.end_time <= b.start_time) return rates;
    auto& sm = sms[b.sm];
    sm.first = std::min(sm.first, b.start_clock);
    sm.last = std::max(sm.last, b.end_clock);
    ++sm.blocks;
    clocks.push_back(static_cast<double>(b.end_clock - b.start_clock) * 1e3 /
                     static_cast<double>(b.end_time - b.start_time));
  }
  rates.seconds = seconds_between(blocks, blocks);
  if (rates.seconds == 0) return rates;
  for (auto const& [number, sm] : sms)
    per_clock.push_back(work * sm.blocks / static_cast<double>(sm.last - sm.first));
  rates.per_clock = median_of(per_clock);
  rates.per_second = work * static_cast<double>(blocks.size()) / rates.seconds;
  rates.sm_clock_mhz = median_of(clocks);
  return rates;
}

}  // namespace gpuprof::guest::peaks

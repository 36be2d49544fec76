// SPDX-License-Identifier: Apache-2.0
#include "model/measured_roofs.hpp"

#include <cmath>

namespace gpuprof {
namespace {

constexpr double megahertz = 1e6;

std::optional<double> if_there(double value) {
  if (value > 0 && std::isfinite(value)) return value;
  return std::nullopt;
}

struct dram_mix {
  std::string_view test;
  double write_share;
};
constexpr dram_mix dram_mixes[] = {
    {"dram_read", 0}, {"dram_triad", 1. / 3}, {"dram_copy", 0.5}, {"dram_write", 1}};

}  // namespace

void measured_roofs::add(peak_record const& peak, std::string_view test) {
  peaks_.insert_or_assign(std::string(test), peak);
}

void measured_roofs::add(peak_result const& peak) {
  if (peak.outcome != peak_outcome::measured) return;
  peak_record row;
  row.per_clock = peak.per_clock.value;
  row.per_clock_theory = peak.per_clock_theory;
  row.burst = peak.burst.value;
  row.burst_sm_clock_mhz = peak.burst.chip.sm_clock_mhz;
  row.theory = peak.theory;
  add(row, peak.test);
}

peak_record const* measured_roofs::find(std::string_view test) const {
  auto const found = peaks_.find(test);
  return found == peaks_.end() ? nullptr : &found->second;
}

std::optional<double> measured_roofs::at_clock(std::string_view test, double clock) const {
  auto const* const peak = find(test);
  if (peak == nullptr || !(clock > 0)) return std::nullopt;
  if (peak->per_clock > 0 && device_.sm_count > 0)
    return if_there(peak->per_clock * device_.sm_count * clock);
  if (peak->burst_sm_clock_mhz > 0)
    return if_there(peak->burst * clock / (peak->burst_sm_clock_mhz * megahertz));
  return std::nullopt;
}

std::optional<double> measured_roofs::burst(std::string_view test) const {
  auto const* const peak = find(test);
  return peak == nullptr ? std::nullopt : if_there(peak->burst);
}

std::optional<double> measured_roofs::theory(std::string_view test) const {
  auto const* const peak = find(test);
  return peak == nullptr ? std::nullopt : if_there(peak->theory);
}

std::optional<double> measured_roofs::dram(double write_share) const {
  std::optional<double> best;
  double least = 0;
  for (auto const& mix : dram_mixes) {
    auto const rate = burst(mix.test);
    auto const off = std::abs(mix.write_share - write_share);
    if (!rate || (best && off >= least)) continue;
    best = rate;
    least = off;
  }
  return best;
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
#include "guest/live/sampled_rates.hpp"

#include "model/gpu_work.hpp"
#include "model/roof_shares.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gpuprof::guest {

void sampled_sums::define(metric_id metric, std::string_view name) {
  auto const is_one_of = [name](auto const& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  auto& place = sum_of_metric_;
  if (is_one_of(dram_read_names)) place[raw(metric)] = dram_read;
  if (is_one_of(dram_write_names)) place[raw(metric)] = dram_write;
  if (name == l2_bytes_name) place[raw(metric)] = l2;
  if (name == sm_clock_name) place[raw(metric)] = clock;
  if (name == active_cycles_of_sm) place[raw(metric)] = active;
  if (name == tensor_cycles_of_sm) place[raw(metric)] = tensor;
}

void sampled_sums::add(std::span<sample_record const> samples) {
  for (auto const& sample : samples) {
    auto const found = sum_of_metric_.find(raw(sample.metric));
    if (found == sum_of_metric_.end() || !std::isfinite(sample.value)) continue;
    auto const seconds = static_cast<double>(nanoseconds(sample.duration)) / 1e9;
    auto& sum = sums_[found->second];
    sum.seconds += seconds;
    sum.amount += found->second == clock ? sample.value * seconds : sample.value;
  }
}

std::optional<sampled_rates> sampled_sums::rates() const {
  auto const rate = [this](std::size_t of) -> std::optional<double> {
    if (!(sums_[of].seconds > 0)) return std::nullopt;
    return sums_[of].amount / sums_[of].seconds;
  };
  sampled_rates all;
  for (auto const& sum : sums_) all.seconds = std::max(all.seconds, sum.seconds);
  if (!(all.seconds > 0)) return std::nullopt;
  auto const in = rate(dram_read), out = rate(dram_write);
  if (in && out) all.dram_rate = *in + *out;
  all.l2_rate = rate(l2);
  all.clock = rate(clock);
  if (rate(tensor) && sums_[active].amount > 0)  // the counter adds up four parts of an SM
    all.tensor_active = sums_[tensor].amount / sums_[active].amount / 4;
  return all;
}

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Mean rates of whole GPUs over the time in which they were sampled.
#pragma once

#include "model/ids.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace gpuprof::guest {

/// Of one GPU, the mean of all that were sampled. Idle moments, copies and the work of other
/// processes are in it.
struct sampled_rates {
  double seconds = 0;                        // sampled, all GPUs together
  std::optional<double> dram_rate, l2_rate;  // bytes per second
  std::optional<double> clock;               // Hz
  std::optional<double> tensor_active;       // share of the cycles in which SMs had work
};

/// A value. One thread.
class sampled_sums {
 public:
  /// Ignores metrics that no rate needs.
  void define(metric_id metric, std::string_view name);
  void add(std::span<sample_record const> samples);
  /// Nothing if there are no samples.
  std::optional<sampled_rates> rates() const;

 private:
  struct sum {
    double amount = 0, seconds = 0;
  };
  static constexpr std::size_t dram_read = 0, dram_write = 1, l2 = 2, clock = 3, active = 4,
                               tensor = 5;
  std::array<sum, 6> sums_{};
  std::unordered_map<std::uint32_t, std::size_t> sum_of_metric_;
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Divides what was counted around launches by how long launches take: FLOP, bytes and shares of the
// peaks, of kernels and ranges.
#pragma once

#include "guest/live/live_totals.hpp"
#include "model/flop_counters.hpp"
#include "model/measured_roofs.hpp"
#include "model/roof_shares.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

/// Rates are of the launches whose figure was counted, while they ran as if nothing was counted.
/// There is none where these are less than half of the line's time.
struct achieved_line {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t samples = 0;  // valid readings
  double total_ns = 0;
  double exact_share = 0;  // of the line's time: its FLOP were counted in full, or there are none
  std::array<std::optional<double>, precision_count> flops;  // per second
  std::optional<double> total_flops;                         // per second
  flop_source source = flop_source::not_measured;            // of the total
  std::optional<double> dram_rate, l2_rate;                  // bytes per second
  std::optional<double> clock;                               // Hz
  std::optional<double> occupancy, tensor_active;
  roof_shares shares;
  std::optional<double> of_roof;
  bound_by bound;
};

class mean_of_readings {
 public:
  void add(double value) noexcept {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value() const noexcept {
    if (count_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(count_);
  }

 private:
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

/// Places in counted_launch::means: first the flop_counters(), then these.
enum counted_unit : std::size_t {
  counted_dram_read = flop_counter_count,
  counted_dram_write,
  counted_l2,
  counted_clock,
  counted_occupancy,
  counted_active_cycles,
  counted_tensor_cycles,
  counted_units
};
/// nullopt: no figure needs this metric.
std::optional<std::size_t> place_of_metric(std::string_view name) noexcept;

/// What was counted around launches of one workload, as of a single launch.
struct counted_launch {
  std::uint64_t readings = 0;
  std::array<mean_of_readings, counted_units> means;
};

/// All that was counted, and what is known of the GPUs and the machine code.
struct counted_launches {
  struct gpu {
    std::string chip;  // "GH100"; empty: not known
    measured_roofs roofs;
    std::array<bool, flop_counter_count> planned{};
  };
  std::map<workload_id, counted_launch> workloads;
  std::map<device_id, gpu> devices;
  std::map<std::string, kernel_code, std::less<>> codes;  // by the kernel's name
};

class achieved_lines {
 public:
  /// Both outlive it.
  achieved_lines(workload_snapshot const& ran, counted_launches const& counted);

  achieved_line all() const;
  // Longest total time first.
  std::vector<achieved_line> by_range() const;
  std::vector<achieved_line> by_kernel() const;

 private:
  struct figures {  // of a launch
    std::optional<double> ns;
    counted_flop flop;
    std::optional<double> dram_bytes, l2_bytes, clock, occupancy, tensor_active;
    roof_shares shares;
    std::optional<nearest_roof> nearest;
    std::uint64_t readings = 0;
  };
  struct part {
    std::uint32_t workload = 0;
    work_tally tally;
  };
  enum class judged_by { own_figures, kernels };
  figures figures_of(live_workload const& workload) const;
  void compare(figures& of, counted_launch const& counted, measured_roofs const& roofs) const;
  achieved_line sum(std::span<part const> parts, judged_by verdict) const;

  workload_snapshot const& ran_;
  counted_launches const& counted_;
  std::vector<figures> figures_;  // by workload
};

}  // namespace gpuprof::guest

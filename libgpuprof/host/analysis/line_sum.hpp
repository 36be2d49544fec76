// SPDX-License-Identifier: Apache-2.0
// Workloads summed up to a line of the roofline: rates over the time of what is known.
#pragma once

#include "host/analysis/line_means.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/analysis/workload_figures.hpp"

#include <array>

namespace gpuprof {

class line_sum {
 public:
  /// So many launches of a workload, which take `ns` of the line.
  void add(workload_figures const& figures, std::uint64_t launches, double ns);
  /// What it is bound by is left open. `gpu_ns`: the time of all kernels.
  roofline_row row(double gpu_ns) const;

 private:
  void add_flop(workload_figures const& figures, double launches, part_time const& time);
  flop_source source() const noexcept;
  double share_of(double line_ns) const noexcept {
    return begun_.total_ns > 0 ? line_ns / begun_.total_ns : 0;
  }
  void take_rates(roofline_row& row) const;
  void take_shares(roofline_row& row) const;

  roofline_row begun_;  // what needs no mean
  std::array<rate, precision_count> flops_;
  rate total_, total_above_, dram_, l2_;
  ratio intensity_, l2_intensity_;
  std::array<time_weighted, roof_count> shares_;
  std::array<bool, precision_count> is_not_judged_{};
  time_weighted clock_, clock_loss_, occupancy_, tensor_;
  double counted_ns_ = 0, known_launches_ = 0, known_ns_ = 0;
  bool is_whole_ = true, is_by_cycles_ = false, is_sampled_ = false, is_by_code_ = true;
};

}  // namespace gpuprof

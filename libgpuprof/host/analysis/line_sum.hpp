// SPDX-License-Identifier: Apache-2.0
// Sums workloads into a line of the roofline: rates over the time for which a value is known, and
// means and ratios of the parts.
#pragma once

#include "host/analysis/roofline_row.hpp"

#include <array>
#include <cmath>
#include <optional>

namespace gpuprof::host {

/// The time of one part of a line: its share of the line, and the time of its launches without
/// counters.
struct part_time {
  double of_line_ns = 0, undisturbed_ns = 0;
};

/// A time-weighted mean of the values that are known.
class time_weighted {
 public:
  void add(std::optional<double> value, part_time const& time, double error = 0) noexcept {
    auto const weight = time.undisturbed_ns;
    if (!value || weight <= 0) return;
    sum_ += *value * weight;
    weight_ += weight;
    error_ = std::hypot(error_, error * weight);
    line_ns_ += time.of_line_ns;
  }
  double line_ns() const noexcept { return line_ns_; }
  std::optional<double> value() const noexcept {
    if (weight_ <= 0) return std::nullopt;
    return sum_ / weight_;
  }
  std::optional<double> error() const noexcept {
    if (weight_ <= 0 || !(error_ > 0)) return std::nullopt;
    return error_ / weight_;
  }

 private:
  double sum_ = 0, weight_ = 0, error_ = 0, line_ns_ = 0;
};

/// The sum of amounts per second of the time they took. Errors are per workload, not per launch;
/// `bias` is an error that all of them share, so it does not average out.
class rate {
 public:
  void add(std::optional<double> amount, double launches, part_time const& time, double error = 0,
           double bias = 0) noexcept {
    if (!amount || time.undisturbed_ns <= 0) return;
    amount_ += *amount * launches;
    error_ = std::hypot(error_, error * launches);
    bias_ += bias * launches;
    ns_ += time.undisturbed_ns;
    line_ns_ += time.of_line_ns;
  }
  double line_ns() const noexcept { return line_ns_; }
  double amount() const noexcept { return amount_; }
  std::optional<double> value() const noexcept {
    if (ns_ <= 0) return std::nullopt;
    return amount_ / ns_ * 1e9;
  }
  std::optional<double> error() const noexcept {
    auto const error = std::hypot(error_, bias_);
    if (ns_ <= 0 || !(error > 0)) return std::nullopt;
    return error / ns_ * 1e9;
  }

 private:
  double amount_ = 0, ns_ = 0, error_ = 0, bias_ = 0, line_ns_ = 0;
};

/// The ratio of two amounts, over the launches for which both are known.
class ratio {
 public:
  void add(std::optional<double> above, std::optional<double> below, double launches,
           part_time const& time) noexcept {
    if (!above || !below) return;
    above_ += *above * launches;
    below_ += *below * launches;
    line_ns_ += time.of_line_ns;
  }
  double line_ns() const noexcept { return line_ns_; }
  std::optional<double> value() const noexcept {
    if (below_ <= 0) return std::nullopt;
    return above_ / below_;
  }

 private:
  double above_ = 0, below_ = 0, line_ns_ = 0;
};

class line_sum {
 public:
  /// Adds `launches` launches of a workload, which take `ns` of the line.
  void add(workload_figures const& figures, double launches, double ns);
  /// Returns the row without setting what it is bound by. `gpu_ns` is the time of all kernels.
  roofline_row row(double gpu_ns) const;

 private:
  void add_flop(workload_figures const& figures, double launches, part_time const& time);
  flop_source source() const noexcept;
  double share_of(double line_ns) const noexcept {
    return begun_.total_ns > 0 ? line_ns / begun_.total_ns : 0;
  }
  void take_rates(roofline_row& row) const;
  void take_shares(roofline_row& row) const;

  roofline_row begun_;  // the members that are plain sums
  std::array<rate, precision_count> flops_;
  rate total_, total_above_, dram_, l2_;
  ratio intensity_, l2_intensity_;
  std::array<time_weighted, roof_count> shares_;
  std::array<bool, precision_count> is_not_judged_{};
  time_weighted clock_, clock_loss_, occupancy_, tensor_;
  double counted_ns_ = 0, launches_ = 0, known_launches_ = 0, known_ns_ = 0;
  bool is_whole_ = true, is_by_cycles_ = false, is_sampled_ = false, is_by_code_ = true;
};

}  // namespace gpuprof::host

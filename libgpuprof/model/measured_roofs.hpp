// SPDX-License-Identifier: Apache-2.0
// Computes what a GPU can reach at a given clock, from its measured peaks.
#pragma once

#include "model/peaks.hpp"
#include "model/records.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof {

/// The peaks of one GPU. Rates are per second: operations, bytes.
class measured_roofs {
 public:
  measured_roofs() = default;
  explicit measured_roofs(device_record const& device) : device_(device) {}

  void add(peak_record const& peak, std::string_view test);
  void add(peak_result const& peak);

  bool empty() const noexcept { return peaks_.empty(); }
  std::uint32_t sm_count() const noexcept { return device_.sm_count; }
  /// Hz; 0: not known.
  double greatest_clock() const noexcept { return device_.max_sm_clock_khz * 1e3; }

  /// Returns the rate of an SM test at an SM clock in Hz: the measured rate per clock times the
  /// number of SMs. Without that, the burst, scaled from its clock to this one.
  std::optional<double> at_clock(std::string_view test, double clock) const;
  /// The best single value of a test: measured, and in theory.
  std::optional<double> burst(std::string_view test) const;
  std::optional<double> theory(std::string_view test) const;

  /// The DRAM rate for traffic with this share of writes (0 to 1), because reads and writes slow
  /// each other down. Uses the nearest measured mix: read, triad (a third), copy (half) or write.
  std::optional<double> dram(double write_share) const;

 private:
  peak_record const* find(std::string_view test) const;

  device_record device_{};
  std::map<std::string, peak_record, std::less<>> peaks_;
};

}  // namespace gpuprof

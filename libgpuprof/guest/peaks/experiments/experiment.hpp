// SPDX-License-Identifier: Apache-2.0
// Defines a peak test: an experiment that measures something, in a lab that provides the GPU.
#pragma once

#include "guest/peaks/experiments/measure_options.hpp"
#include "guest/peaks/experiments/workbench.hpp"
#include "guest/peaks/theory/theory.hpp"
#include "model/peaks.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace gpuprof::guest::peaks {

inline constexpr std::uint64_t mib = 1u << 20;

/// Thrown if there is nothing to measure, or if the figures are not credible. The reason is one
/// line.
class no_figure : public std::runtime_error {
 public:
  no_figure(peak_outcome outcome, std::string const& why)
      : std::runtime_error(why), outcome_(outcome) {}
  peak_outcome outcome() const noexcept { return outcome_; }

 private:
  peak_outcome outcome_;
};

/// The resources that all experiments on a GPU share. For one thread.
struct lab {
  workbench& bench;
  chip_facts const& chip;
  measure_options const& options;
  /// Returns the current clocks, watts, temperature and limiters; zeros without NVML.
  std::function<chip_state()> read_chip;
  buffer spans;   // blocks write their times here
  buffer arena;   // for the DRAM tests, allocated by the first of them
  buffer pinned;  // for the link tests, allocated by the first of them

  unsigned samples() const noexcept { return options.quick ? 4 : 8; }
};

/// All functions throw cuda_failure or no_figure.
class experiment {
 public:
  experiment() = default;
  virtual ~experiment() = default;
  experiment(experiment const&) = delete;
  experiment& operator=(experiment const&) = delete;

  /// Checks the results and fills in method, operands and the short figures.
  virtual void measure(peak_result& into) = 0;
  virtual bool can_be_sustained() const noexcept { return false; }
  /// Runs for this time. The figure is that of the last third.
  virtual peak_figure sustain(double /*seconds*/) { return {}; }
};

// Return null if this chip has no code for the test.
std::unique_ptr<experiment> make_compute_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_cache_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_dram_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_link_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_latency_experiment(test_id test, lab& in);

constexpr std::uint32_t operand_seed = 20260;

// Measures copies between this GPU and each of the others.

/// Returns the best of all as "p2p", then "p2p_to_N" and "p2p_both_N" for each other GPU N. If
/// there is no other GPU, the result only has a remark.
std::vector<peak_result> measure_peers(lab& in);

}  // namespace gpuprof::guest::peaks

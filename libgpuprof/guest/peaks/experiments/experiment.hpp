// SPDX-License-Identifier: Apache-2.0
// What one peak test is made of: something that can be measured, in a lab that lends it a GPU.
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

/// Nothing to measure here, or nothing that could be believed: the reason is one line.
class no_figure : public std::runtime_error {
 public:
  no_figure(peak_outcome outcome, std::string const& why)
      : std::runtime_error(why), outcome_(outcome) {}
  peak_outcome outcome() const noexcept { return outcome_; }

 private:
  peak_outcome outcome_;
};

/// What all experiments on a GPU share. One thread.
struct lab {
  workbench& bench;
  chip_facts const& chip;
  measure_options const& options;
  /// Clocks, watts, temperature and limiters of this moment; zeros without NVML.
  std::function<chip_state()> read_chip;
  buffer spans;   // where blocks write down their times
  buffer arena;   // of the DRAM tests, made by the first of them
  buffer pinned;  // of the link tests, likewise

  unsigned samples() const noexcept { return options.quick ? 4 : 8; }
};

/// Throws cuda_failure or no_figure.
class experiment {
 public:
  experiment() = default;
  virtual ~experiment() = default;
  experiment(experiment const&) = delete;
  experiment& operator=(experiment const&) = delete;

  /// Checks the results and fills in method, operands and the short figures.
  virtual void measure(peak_result& into) = 0;
  virtual bool can_be_sustained() const noexcept { return false; }
  /// Runs on for as long; the figure is of its last third.
  virtual peak_figure sustain(double /*seconds*/) { return {}; }
};

// Null: this chip has no code for the test.
std::unique_ptr<experiment> make_compute_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_cache_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_dram_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_link_experiment(test_id test, lab& in);
std::unique_ptr<experiment> make_latency_experiment(test_id test, lab& in);

constexpr std::uint32_t operand_seed = 20260;

// Measures copies between this GPU and each of the others.

/// The best of all as "p2p", then for each other GPU N "p2p_to_N" and "p2p_both_N". Only remarks
/// when there is no other GPU.
std::vector<peak_result> measure_peers(lab& in);

}  // namespace gpuprof::guest::peaks

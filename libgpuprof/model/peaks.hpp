// SPDX-License-Identifier: Apache-2.0
// What a GPU really reaches: results of the built-in peak tests, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof {

/// What the chip did while a figure was measured. 0: not known.
struct chip_state {
  double sm_clock_mhz = 0;      // counted inside the kernel where there is one, else NVML's
  double memory_clock_mhz = 0;  // NVML
  double watts = 0;             // NVML
  double temperature_c = 0;     // NVML
  std::uint64_t limiters = 0;   // NVML's clocks event reasons, bits as in nvml.h
};

/// One measured number. Absent when there are no samples.
struct peak_figure {
  double value = 0;
  double spread = 0;  // (greatest - least) / median of the samples; 0.02 is 2 %
  std::uint32_t samples = 0;
  chip_state chip;

  bool is_there() const noexcept { return samples != 0; }
};

enum class peak_outcome {
  measured,
  failed,       // ran, but its result or its rate cannot be right: no figure is kept
  unavailable,  // this chip, driver or machine has nothing to measure here
};

/// How much was measured, in rising order: a result also answers whoever asks for less.
enum class peak_effort {
  quick,      // fewer runs, no sustained figure
  standard,   // sustained figures where power matters
  sustained,  // sustained figures of every test
};

/// One test. Figures are in `unit`: "FLOP/s", "op/s", "B/s", or "s" where less is better.
struct peak_result {
  std::string test;   // "tensor_bf16"; names are listed in peaks/test_list
  std::string group;  // "tensor_cores"
  std::string title;  // "Tensor BF16": what a reader sees; tells peers of a peer copy apart
  std::string unit;
  peak_outcome outcome = peak_outcome::unavailable;
  peak_effort effort = peak_effort::standard;
  std::string measured_at;  // empty: with the others, see gpu_peaks
  std::string remark;       // why there is no figure, or what lessens it: one line
  std::string method;       // instruction or call: "wgmma m64n256k16"
  std::string operands;     // what it computed on: "random", "zeros"
  std::uint64_t buffer_bytes = 0;

  /// What a clock cycle yields: per SM and SM clock, or per memory clock for DRAM; see `clock`.
  std::string clock;  // "SM clock per SM", "memory clock", or empty: the test has no clock
  peak_figure per_clock;
  double per_clock_theory = 0;  // 0: nobody knows
  peak_figure burst;            // the best of several runs of 0.5 to 2 ms; for times, the median
  peak_figure sustained;        // the last third of a run of 150 ms or more
  double theory = 0;            // in `unit`, at the greatest clocks; 0: nobody knows
  std::string theory_formula;   // "132 SM x 1980 MHz x 4096 FLOP/clk"
};

/// What decides whether stored results still hold for a GPU.
struct peaks_key {
  std::string uuid;            // "GPU-..." or "MIG-..."
  std::string driver_version;  // "580.159.04"
  std::string kernels;         // hash of the built-in kernels and of the methods
  std::uint32_t power_limit_w = 0;
  std::uint32_t max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  std::uint32_t application_sm_clock_mhz = 0;  // 0: none set
  bool ecc = false;
  std::uint32_t sm_count = 0;  // a MIG slice has fewer
  std::uint64_t memory_bytes = 0;

  friend bool operator==(peaks_key const&, peaks_key const&) = default;
};

/// All results of one GPU.
struct gpu_peaks {
  peaks_key key;
  std::string name;  // "NVIDIA H200"
  int compute_major = 0, compute_minor = 0;
  std::string pci_bus;
  std::string measured_at;           // "2026-03-01T12:00:00Z"
  double seconds = 0;                // what measuring took
  std::vector<std::string> remarks;  // what to know about all of it: one line each
  std::vector<peak_result> results;
};

}  // namespace gpuprof

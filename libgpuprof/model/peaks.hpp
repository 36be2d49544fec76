// SPDX-License-Identifier: Apache-2.0
// Results of the built-in peak tests: what a GPU reaches in practice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof {

/// The state of the chip while a value was measured. 0: not known.
struct chip_state {
  double sm_clock_mhz = 0;      // counted inside the kernel if there is one, else from NVML
  double memory_clock_mhz = 0;  // NVML
  double watts = 0;             // NVML
  double temperature_c = 0;     // NVML
  std::uint64_t limiters = 0;   // NVML's clocks event reasons, bits as in nvml.h
};

/// One measured value. Without samples there is no value.
struct peak_figure {
  double value = 0;
  double spread = 0;  // (greatest - least) / median of the samples; 0.02 is 2 %
  std::uint32_t samples = 0;
  chip_state chip;

  bool is_there() const noexcept { return samples != 0; }
};

enum class peak_outcome {
  measured,
  failed,       // the test ran, but its result or rate cannot be right: no value is kept
  unavailable,  // not applicable to this chip, driver or machine
};

/// How much was measured, in rising order: a result also satisfies requests for less effort.
enum class peak_effort {
  quick,      // fewer runs, no sustained values
  standard,   // sustained values for tests that depend on power
  sustained,  // sustained values of every test
};

/// The result of one test. Values are in `unit`: "FLOP/s", "op/s", "B/s", or "s" (less is better).
struct peak_result {
  std::string test;   // "tensor_bf16"; see peaks/test_list for all names
  std::string group;  // "tensor_cores"
  std::string title;  // "Tensor BF16": shown to users; distinguishes the peers of a peer copy
  std::string unit;
  peak_outcome outcome = peak_outcome::unavailable;
  peak_effort effort = peak_effort::standard;
  std::string measured_at;  // empty: same as for the whole GPU, see gpu_peaks
  std::string remark;       // one line: why there is no value, or what reduces it
  std::string method;       // instruction or call: "wgmma m64n256k16"
  std::string operands;     // contents of the operands: "random", "zeros"
  std::uint64_t buffer_bytes = 0;

  /// The rate per clock cycle: per SM and SM clock, or per memory clock for DRAM; see `clock`.
  std::string clock;  // "SM clock per SM" or "memory clock"; empty: the test has no clock
  peak_figure per_clock;
  double per_clock_theory = 0;  // 0: not known
  peak_figure burst;            // the best of several runs of 0.5 to 2 ms; for times, the median
  peak_figure sustained;        // the last third of a run of 150 ms or more
  double theory = 0;            // in `unit`, at the maximum clocks; 0: not known
  std::string theory_formula;   // "132 SM x 1980 MHz x 4096 FLOP/clk"
};

/// The properties that must be unchanged for stored results to be valid.
struct peaks_key {
  std::string uuid;            // "GPU-..." or "MIG-..."
  std::string driver_version;  // "580.159.04"
  std::string kernels;         // hash of the built-in kernels and of the methods
  std::uint32_t power_limit_w = 0;
  std::uint32_t max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  std::uint32_t application_sm_clock_mhz = 0;  // 0: not set
  bool ecc = false;
  std::uint32_t sm_count = 0;  // lower for a MIG slice
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
  double seconds = 0;                // time that measuring took
  std::vector<std::string> remarks;  // remarks on all results, one line each
  std::vector<peak_result> results;
};

}  // namespace gpuprof

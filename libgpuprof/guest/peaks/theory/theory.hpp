// SPDX-License-Identifier: Apache-2.0
// Computes from the chip's datasheet what each test could reach, per clock and at the maximum
// clocks.
#pragma once

#include "guest/peaks/theory/test_list.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gpuprof::guest::peaks {

// Work of one SM per clock cycle, by compute capability: data from datasheets and whitepapers.

constexpr double no_units = 0, unknown_rate = -1;

struct chip_rates {
  int major, minor;
  /// FLOP or op, in the order of test_id up to tensor_fp4. A multiply-add counts as two, also for
  /// integers. If GeForce parts have half the rate, this is the full rate.
  std::array<double, static_cast<std::size_t>(test_id::tensor_fp4) + 1> operations;
  double shared_bytes, l1_bytes, l2_port_bytes;
};

// clang-format off
inline constexpr std::array all_chip_rates = {
    // CUDA cores:  fp64 fp32 fp16 bf16 int32 special
    // tensor:      fp64 tf32 fp16 fp16/16 bf16 fp8 int8 fp6 fp4
    // bytes:       shared L1 L2
    chip_rates{7, 5, {4, 128, 256, no_units, 128, 16,
                      no_units, no_units, 1024, 1024, no_units, no_units, 2048, no_units, no_units},
               unknown_rate, 64, 64},
    chip_rates{8, 0, {64, 128, 512, 256, 128, 16,
                      128, 1024, 2048, 2048, 2048, no_units, 4096, no_units, no_units},
               128, 128, 64},
    chip_rates{8, 6, {4, 256, 256, 256, 128, 16,
                      no_units, 512, 1024, 1024, 1024, no_units, 2048, no_units, no_units},
               128, 128, 64},
    // Orin has the tensor cores of 8.0 and the CUDA cores of 8.6.
    chip_rates{8, 7, {4, 256, unknown_rate, unknown_rate, 128, 16,
                      no_units, 1024, 2048, 2048, 2048, no_units, 4096, no_units, no_units},
               128, 128, 64},
    chip_rates{8, 9, {4, 256, 256, 256, 128, 16,
                      no_units, 512, 1024, 1024, 1024, 2048, 2048, no_units, no_units},
               128, 128, 64},
    chip_rates{9, 0, {128, 256, 512, 512, 128, 16,
                      256, 2048, 4096, 4096, 4096, 8192, 8192, no_units, no_units},
               128, 128, 64},
    chip_rates{10, 0, {128, 256, 256, 256, 128, 16,
                       128, 4096, 8192, 8192, 8192, 16384, 16384, 16384, 32768},
               128, 128, 64},
    // Has reduced FP64 and no INT8 in favor of FP4. ex2 is twice as fast as other special
    // functions.
    chip_rates{10, 3, {4, 256, 256, 256, 128, 32,
                       no_units, 4096, 8192, 8192, 8192, 16384, no_units, 16384, 49152},
               128, 128, 64},
    chip_rates{12, 0, {4, 256, 256, 256, 128, 16,
                       no_units, 512, 1024, 1024, 1024, 2048, 2048, 2048, 4096},
               128, 128, 64},
    chip_rates{12, 1, {4, 256, 256, 256, 128, 16,
                       no_units, 512, 1024, 1024, 1024, 2048, 2048, 2048, 4096},
               128, 128, 64},
};
// clang-format on

/// Returns nullptr if the chip is not in the table, probably because it is newer.
constexpr chip_rates const* rates_of_chip(int major, int minor) noexcept {
  for (auto const& rates : all_chip_rates) {
    if (rates.major == major && rates.minor == minor) return &rates;
  }
  return nullptr;
}

/// The facts of a GPU that the theory uses. 0: not known.
struct chip_facts {
  int compute_major = 0, compute_minor = 0;
  std::uint32_t sm_count = 0;
  double max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  std::uint32_t memory_bus_bits = 0;
  int pcie_generation = 0, pcie_width = 0;  // maximum of the GPU and its slot
};

struct theory {
  double per_clock =
      0;  // FLOP, op or B per clock cycle of one SM (DRAM: per memory clock). 0: not known
  double rate = 0;      // per second, at the maximum clocks. 0: not known
  std::string formula;  // "132 SM x 1980 MHz x 4096 FLOP/clk"; empty if there is no rate
};

/// Returns false if this chip does not have the units that the test needs. For chips newer than the
/// table, returns true for units that all chips have.
bool chip_has(test_id test, int compute_major, int compute_minor) noexcept;

theory theory_of(test_id test, chip_facts const& chip);

/// GeForce parts of compute capability 7.5, 8.6, 8.9 and 12.0 run some tensor kinds at half the
/// rate of the professional parts, which only a measurement can show. Returns the given theory or
/// half of it, whichever fits the measured rate per clock. If the rate is far below the half,
/// returns the given theory.
theory fitted_to(theory const& given, test_id test, chip_facts const& chip,
                 double measured_per_clock);

/// Returns true if the rate is more than 0.5 % above the theory. Then the test is wrong, not the
/// chip fast. The 0.5 % allow for variation of clocks.
bool is_above(double measured, double theory) noexcept;

}  // namespace gpuprof::guest::peaks

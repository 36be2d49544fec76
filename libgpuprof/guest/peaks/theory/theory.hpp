// SPDX-License-Identifier: Apache-2.0
// What each test could reach by the chip's datasheet, per clock and at its greatest clocks.
#pragma once

#include "guest/peaks/theory/test_list.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::guest::peaks {

/// Facts of a GPU that the theory rests on. 0: not known.
struct chip_facts {
  int compute_major = 0, compute_minor = 0;
  std::uint32_t sm_count = 0;
  double max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  std::uint32_t memory_bus_bits = 0;
  int pcie_generation = 0, pcie_width = 0;  // the greatest the GPU and its slot can do
};

struct theory {
  double per_clock =
      0;  // FLOP, op or B in one clock cycle of one SM (DRAM: one memory clock). 0: not known
  double rate = 0;      // per second, at the greatest clocks. 0: not known
  std::string formula;  // "132 SM x 1980 MHz x 4096 FLOP/clk"; empty when there is no rate
};

/// False: this chip has no such units, and the test has nothing to measure. Of a chip that is newer
/// than what is known here, true for what all chips have.
bool chip_has(test_id test, int compute_major, int compute_minor) noexcept;

theory theory_of(test_id test, chip_facts const& chip);

/// GeForce parts of compute capability 7.5, 8.6, 8.9 and 12.0 run some tensor kinds at half the
/// rate of their professional siblings, which nothing but a measurement tells: the theory that fits
/// a measured rate per clock, which is the given one or its half. What is far below the half leaves
/// the given one.
theory fitted_to(theory const& given, test_id test, chip_facts const& chip,
                 double measured_per_clock);

/// More than the theory allows: the test is broken, not the chip fast. Half a per cent is left to
/// the clocks.
bool is_above(double measured, double theory) noexcept;

}  // namespace gpuprof::guest::peaks

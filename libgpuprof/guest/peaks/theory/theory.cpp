// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/theory/theory.hpp"

#include <array>
#include <cstdio>
#include <initializer_list>

namespace gpuprof::guest::peaks {
namespace {

constexpr double million = 1e6;

/// 1980, or 2617.5
std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", number);
  return text;
}

bool is_one_of(test_id test, std::initializer_list<test_id> tests) noexcept {
  for (auto const t : tests) {
    if (t == test) return true;
  }
  return false;
}

bool counts_operations(test_id test) noexcept {
  return test <= test_id::tensor_fp4;
}

bool is_dram(test_id test) noexcept {
  return is_one_of(
      test, {test_id::dram_read, test_id::dram_write, test_id::dram_copy, test_id::dram_triad});
}

bool is_host_link(test_id test) noexcept {
  return is_one_of(test, {test_id::h2d, test_id::d2h, test_id::h2d_d2h, test_id::h2d_pageable,
                          test_id::d2h_pageable});
}

double rate_per_clock(test_id test, chip_rates const& rates) noexcept {
  if (counts_operations(test)) return rates.operations[static_cast<std::size_t>(test)];
  switch (test) {
    case test_id::shared_read:
    case test_id::shared_write:
      return rates.shared_bytes;
    case test_id::l1_read:
      return rates.l1_bytes;
    case test_id::l2_read:
    case test_id::l2_write:
      return rates.l2_port_bytes;
    default:
      return unknown_rate;
  }
}

/// Returns "FLOP", "op" or "B", the part of the unit before "/s".
std::string_view what_is_counted(test_id test) noexcept {
  auto const unit = info_of(test).unit;
  return unit.substr(0, unit.find('/'));
}

theory of_sms(test_id test, double per_clock, chip_facts const& chip) {
  if (per_clock <= 0) return {};
  theory t{.per_clock = per_clock, .rate = 0, .formula = {}};
  if (chip.sm_count == 0 || chip.max_sm_clock_mhz <= 0) return t;
  t.rate = chip.sm_count * chip.max_sm_clock_mhz * million * per_clock;
  t.formula = std::to_string(chip.sm_count) + " SM x " + text_of(chip.max_sm_clock_mhz) +
              " MHz x " + text_of(per_clock) + " " + std::string(what_is_counted(test)) + "/clk";
  return t;
}

/// Memory makes two transfers per clock for the clock that NVML and the driver report, both for HBM
/// and for every GDDR.
theory of_dram(chip_facts const& chip) {
  if (chip.memory_bus_bits == 0) return {};
  theory t{.per_clock = chip.memory_bus_bits / 8.0 * 2, .rate = 0, .formula = {}};
  if (chip.max_memory_clock_mhz <= 0) return t;
  t.rate = t.per_clock * chip.max_memory_clock_mhz * million;
  t.formula = std::to_string(chip.memory_bus_bits) + " bit / 8 x " +
              text_of(chip.max_memory_clock_mhz) + " MHz x 2";
  return t;
}

struct pcie_generation {
  double gigatransfers;
  int payload, sent;  // net rate after encoding: 128 of 130 bits, 242 of 256 bytes
};
constexpr std::array pcie_generations = {
    pcie_generation{2.5, 8, 10},    pcie_generation{5, 8, 10},     pcie_generation{8, 128, 130},
    pcie_generation{16, 128, 130},  pcie_generation{32, 128, 130}, pcie_generation{64, 242, 256},
    pcie_generation{128, 242, 256},
};

theory of_host_link(test_id test, chip_facts const& chip) {
  if (chip.pcie_generation < 1 || chip.pcie_width < 1) return {};
  auto const index = static_cast<std::size_t>(chip.pcie_generation) - 1;
  if (index >= pcie_generations.size()) return {};
  auto const& generation = pcie_generations[index];
  bool const both = test == test_id::h2d_d2h;
  theory t;
  t.rate = generation.gigatransfers * 1e9 * chip.pcie_width / 8 * generation.payload /
           generation.sent * (both ? 2 : 1);
  t.formula = "PCIe gen" + std::to_string(chip.pcie_generation) + ": " +
              text_of(generation.gigatransfers) + " GT/s x " + std::to_string(chip.pcie_width) +
              " lanes / 8 x " + std::to_string(generation.payload) + "/" +
              std::to_string(generation.sent) + (both ? " x 2 directions" : "");
  return t;
}

bool may_be_halved(test_id test, chip_facts const& chip) noexcept {
  auto const version = chip.compute_major * 10 + chip.compute_minor;
  bool const sold_as_geforce =
      version == 75 || version == 86 || version == 89 || version == 120 || version == 121;
  return sold_as_geforce &&
         is_one_of(test, {test_id::tensor_tf32, test_id::tensor_fp16, test_id::tensor_bf16,
                          test_id::tensor_fp8, test_id::tensor_fp6});
}

}  // namespace

bool chip_has(test_id test, int compute_major, int compute_minor) noexcept {
  if (!counts_operations(test)) return true;
  if (auto const* const rates = rates_of_chip(compute_major, compute_minor)) {
    return rate_per_clock(test, *rates) != no_units;
  }
  // If the chip is newer than the table, assume the units of every chip since 8.0, so that the
  // generic kernels run there.
  return !is_one_of(
      test, {test_id::tensor_fp64, test_id::tensor_fp8, test_id::tensor_fp6, test_id::tensor_fp4});
}

theory theory_of(test_id test, chip_facts const& chip) {
  if (is_dram(test)) return of_dram(chip);
  if (is_host_link(test)) return of_host_link(test, chip);
  auto const* const rates = rates_of_chip(chip.compute_major, chip.compute_minor);
  return rates == nullptr ? theory{} : of_sms(test, rate_per_clock(test, *rates), chip);
}

theory fitted_to(theory const& given, test_id test, chip_facts const& chip,
                 double measured_per_clock) {
  if (given.per_clock <= 0 || !may_be_halved(test, chip)) return given;
  auto const half = given.per_clock / 2;
  // Far below the half, the chip does not have this unit: GTX 16xx have no tensor cores.
  if (measured_per_clock < 0.45 * given.per_clock || is_above(measured_per_clock, half)) {
    return given;
  }
  return of_sms(test, half, chip);
}

bool is_above(double measured, double theory) noexcept {
  return theory > 0 && measured > theory * 1.005;
}

}  // namespace gpuprof::guest::peaks

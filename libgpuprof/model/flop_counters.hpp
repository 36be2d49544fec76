// SPDX-License-Identifier: Apache-2.0
// Turns hardware counters into floating-point operations by precision.
#pragma once

#include "model/precisions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gpuprof {

/// A hardware counter that counts operations.
struct flop_counter {
  std::string_view metric;
  precision of{};
  double operations = 0;       // for each time it counts
  std::string_view peak_test;  // the peak it can reach; empty: none is measured
  std::uint32_t chips = 0;     // families that have it, a bit each
};

inline constexpr std::size_t flop_counter_count = 31;
std::span<flop_counter const, flop_counter_count> flop_counters() noexcept;
/// True if the chip, by CUPTI's name, has this counter; nullopt: the chip is not known.
std::optional<bool> has_counter(std::string_view chip, flop_counter const& counter) noexcept;

/// Operations of a launch. A precision is there when every counter it needs was read.
struct counted_flop {
  std::array<std::optional<double>, precision_count> of;
  std::optional<double> total;  // when every precision is there
  /// Else of the tensor cores alone, when all of theirs were read and they had work.
  std::optional<double> tensor_alone;
  /// Precisions of which the chip may compute something here that nobody counted.
  std::array<bool, precision_count> is_missing{};
  /// No counter told this: the machine code holds nothing that computes.
  bool is_by_code = false;

  std::optional<double> operator[](precision p) const noexcept {
    return of[static_cast<std::size_t>(p)];
  }
};

/// What the counters said of a launch of one workload, by index into flop_counters().
struct counter_means {
  std::array<std::optional<double>, flop_counter_count> of;
  std::array<bool, flop_counter_count> was_planned{};  // for the device
};

/// `chip`: "GH100"; where it is not known, the counters that the capture planned for the device are
/// taken for those it has. `code` of the kernel: what it holds no instruction of is 0 without being
/// counted; nullptr: not known.
counted_flop count_flop(counter_means const& means, std::string_view chip,
                        kernel_code const* code = nullptr);

enum class flop_source : std::uint8_t {
  not_measured,
  counted,
  tensor_counted,  // of the tensor cores; what else the kernel computed was not
  /// In full, from samples: of the tensor cores by their cycles, of CUDA cores by the instructions
  /// of their FMA pipes.
  sampled,
  /// By their cycles, in samples or counted around launches, and what a cycle of them computes;
  /// what else the kernel computed was not measured, or there is nothing.
  tensor_cycles,
  machine_code,  // there are none: the code has no instruction that computes
  declared
};
std::string_view name_of(flop_source source) noexcept;

}  // namespace gpuprof

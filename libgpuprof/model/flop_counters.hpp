// SPDX-License-Identifier: Apache-2.0
// Computes floating-point operations by precision from hardware counters.
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
  double operations = 0;       // per count
  std::string_view peak_test;  // peak test to compare with; empty: none is measured
  std::uint32_t chips = 0;     // families of chips that have it, one bit each
};

inline constexpr std::size_t flop_counter_count = 31;
std::span<flop_counter const, flop_counter_count> flop_counters() noexcept;
/// Returns true if the chip (CUPTI's name) has this counter. nullopt: the chip is not known.
std::optional<bool> has_counter(std::string_view chip, flop_counter const& counter) noexcept;

/// Operations of a launch. A precision is set if every counter it needs was read.
struct counted_flop {
  std::array<std::optional<double>, precision_count> of;
  std::optional<double> total;  // set if every precision is set
  /// Set instead of `total` if only the tensor-core operations are known, and there were any.
  std::optional<double> tensor_alone;
  /// Precisions that may have operations that were not counted.
  std::array<bool, precision_count> is_missing{};
  /// Not counted: the machine code has no instructions that compute.
  bool is_by_code = false;

  std::optional<double> operator[](precision p) const noexcept {
    return of[static_cast<std::size_t>(p)];
  }
};

/// The mean counters of a launch of one workload, indexed like flop_counters().
struct counter_means {
  std::array<std::optional<double>, flop_counter_count> of;
  std::array<bool, flop_counter_count> was_planned{};  // true if planned for the device
};

/// `chip`: for example "GH100"; if it is not known, the counters planned in the capture are assumed
/// to be all. `code` of the kernel: precisions without instructions count as 0; nullptr: not known.
counted_flop count_flop(counter_means const& means, std::string_view chip,
                        kernel_code const* code = nullptr);

enum class flop_source : std::uint8_t {
  not_measured,
  counted,
  tensor_counted,  // only tensor-core operations; other operations were not counted
  /// All operations, from samples: tensor cores by their cycles, CUDA cores by the instructions of
  /// their FMA pipes.
  sampled,
  /// Tensor-core operations from their cycles (sampled or counted) and the operations per cycle.
  /// Other operations were not measured or do not exist.
  tensor_cycles,
  machine_code,  // 0: the code has no instruction that computes
  declared
};
std::string_view name_of(flop_source source) noexcept;

}  // namespace gpuprof

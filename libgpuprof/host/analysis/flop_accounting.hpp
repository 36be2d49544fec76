// SPDX-License-Identifier: Apache-2.0
// Turns hardware counters into floating-point operations by precision.
#pragma once

#include "host/analysis/kernel_codes.hpp"
#include "host/analysis/launch_metrics.hpp"

#include <array>
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

std::span<flop_counter const> flop_counters() noexcept;
/// Whether the chip, by CUPTI's name, has this counter; nullopt: the chip is not known.
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

/// One counter's share of it: operations with the peak they are to be compared with.
struct flop_part {
  flop_counter const* counter = nullptr;
  double operations = 0;
};

/// `chip`: "GH100"; where it is not known, the counters that the capture planned for the device are
/// taken for those it has. `code` of the kernel: what it holds no instruction of is 0 without being
/// counted; nullptr: not known.
counted_flop count_flop(launch_metrics const& metrics, workload_id const& workload,
                        std::string_view chip, kernel_code const* code = nullptr);
/// Of the counters that were read, also where others of their precision were not.
std::vector<flop_part> flop_parts(launch_metrics const& metrics, workload_id const& workload);

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// What the raw counters of one kernel say about it: use of units, reasons of stalls, waste.
#pragma once

#include "host/advice/facts.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace gpuprof::host::advice {

/// Why a warp could not issue, by CUPTI's names.
enum class stall_reason : std::uint8_t {
  long_scoreboard,
  short_scoreboard,
  wait,
  barrier,
  lg_throttle,
  mio_throttle,
  math_pipe_throttle,
  gmma,
};
inline constexpr std::size_t stall_reason_count = 8;
std::string_view name_of(stall_reason reason) noexcept;  // "long_scoreboard"

struct top_stall {
  stall_reason reason{};
  double share = 0;
};

/// Each is there when all counters it needs were read. Shares are from 0 to 1.
struct derived_metrics {
  std::optional<double> issue_use;  // issue slots used, of all schedulers' while SMs were active
  /// Of the time warps wait, without those that were ready and only not chosen.
  std::array<std::optional<double>, stall_reason_count> stall_shares;
  std::optional<double> idle_sms;  // share of the kernel in which SMs wait for the busiest one
  std::optional<double> sectors_per_load;  // 32-byte sectors that a warp's load touches
  std::optional<double> sector_use;        // of fetched bytes: asked for; loads and stores
  std::optional<double> conflict_share;    // of shared-memory cycles: repeated for a conflict
  std::optional<double> shared_pipe_use;   // of cycles: shared memory was accessed
  std::optional<double> threads_per_instruction;  // of 32
  std::optional<double> l1_miss, l2_miss;         // of sectors
  std::optional<double> l1_share;                 // of the sectors that L1 can serve in this time
  std::optional<double> other_sectors;            // of those of L1: neither global loads nor stores

  std::optional<top_stall> longest_wait() const noexcept;
};

/// `sm_count` 0: not known.
derived_metrics derive(kernel_facts const& kernel, std::uint32_t sm_count);

}  // namespace gpuprof::host::advice

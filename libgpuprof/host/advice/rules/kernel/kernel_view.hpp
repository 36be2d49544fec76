// SPDX-License-Identifier: Apache-2.0
// One kernel as rules look at it, what its counters say, and the functions of the rules on kernels.
#pragma once

#include "host/advice/facts.hpp"
#include "host/advice/finding.hpp"
#include "host/analysis/occupancy.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::advice {

// What the raw counters of one kernel say about it: use of units, reasons of stalls, waste.

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

/// A line of run_facts::kernels. What it refers to outlives it.
struct kernel_view {
  run_facts const& run;
  kernel_facts const& kernel;
  device_facts const* gpu = nullptr;
  std::size_t line = 0;
  derived_metrics seen;
  double window_share = 0;  // of its GPU's window: launches of this name, in any geometry

  double time() const noexcept { return kernel.total_ns; }
  double mean_ns() const noexcept { return time() / static_cast<double>(kernel.launches); }
  /// Ran for most of its time with no other kernel beside it.
  bool is_alone() const noexcept { return kernel.alone_ns >= 0.5 * kernel.total_ns; }
  std::optional<double> best_share() const noexcept { return kernel.figures.of_roof; }
  double share_of(std::size_t roof) const noexcept {
    return kernel.figures.shares[roof].value_or(0);
  }
  /// Of DRAM and L2, the higher.
  double memory_share() const noexcept;
  double tensor_active() const noexcept { return kernel.figures.tensor_active.value_or(0); }
  bool is_latency_bound() const noexcept;
  std::uint32_t sm_count() const noexcept { return gpu != nullptr ? gpu->record.sm_count : 0; }
  double blocks() const noexcept;
  std::uint32_t threads_per_block() const noexcept;
  std::optional<sm_limits> sm() const;
  std::optional<occupancy> theoretical_occupancy() const;
  std::optional<double> peak(std::string_view test) const;
  /// FLOP per second of all precisions of the tensor cores; nothing: not known, or none.
  std::optional<double> tensor_rate() const noexcept;
  /// On which most of it is computed.
  std::optional<precision> tensor_precision() const noexcept;
};

using kernel_look = void (*)(kernel_view const&, std::vector<finding>&);

/// Of the window of a GPU, for launches of one name: what is less is not worth a line of its own,
/// and this is what still counts where one line tells of many kernels.
inline constexpr double least_time_of_one = 0.01, least_time_of_many = 0.001;
/// Of the issue slots, as Nsight Compute: from here on a kernel has warps enough.
inline constexpr double full_issue = 0.6;

/// No communication, at least three launches of this name, and this share of the window.
std::vector<kernel_view> kernels_worth_a_look(run_facts const& facts, double least_window_share);

/// A `look` of the rule table, of one that looks at each kernel by itself.
template <kernel_look look_at>
void at_each_kernel(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& view : kernels_worth_a_look(facts, least_time_of_one)) look_at(view, found);
}
/// Whose findings are of one family.
template <kernel_look look_at>
void at_many_kernels(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& view : kernels_worth_a_look(facts, least_time_of_many)) look_at(view, found);
}

/// With all that does not depend on the rule.
finding finding_on(kernel_view const& view, std::string_view rule, kernel_claim claim,
                   std::string what);

/// A gain that nobody can be sure of; half of one that is well founded.
inline time_gain possible(double high_ns) noexcept {
  return {0, high_ns};
}
inline time_gain founded(double high_ns) noexcept {
  return {high_ns / 2, high_ns};
}

// The functions of the rules on kernels; kernel_rules.cpp says what each is for.

// roofs.cpp
void look_at_distance_to_roof(kernel_view const& view, std::vector<finding>& found);
void look_at_full_dram(run_facts const& facts, std::vector<finding>& found);
void look_at_clocks(run_facts const& facts, std::vector<finding>& found);
// products.cpp
void look_at_alignment(kernel_view const& view, std::vector<finding>& found);
void look_at_idle_tensor_cores(kernel_view const& view, std::vector<finding>& found);
void look_at_fp32_products(kernel_view const& view, std::vector<finding>& found);
void look_at_small_batch(run_facts const& facts, std::vector<finding>& found);
// needless_work.cpp
void look_at_fp64(kernel_view const& view, std::vector<finding>& found);
void look_at_padding(kernel_view const& view, std::vector<finding>& found);
// memory_access.cpp
void look_at_coalescing(kernel_view const& view, std::vector<finding>& found);
void look_at_local_memory(kernel_view const& view, std::vector<finding>& found);
void look_at_remote_memory(kernel_view const& view, std::vector<finding>& found);
// issue.cpp
void look_at_bank_conflicts(kernel_view const& view, std::vector<finding>& found);
void look_at_divergence(kernel_view const& view, std::vector<finding>& found);
void look_at_stalls(kernel_view const& view, std::vector<finding>& found);
// launch_shape.cpp
void look_at_small_grid(kernel_view const& view, std::vector<finding>& found);
void look_at_tail(kernel_view const& view, std::vector<finding>& found);
void look_at_block_size(kernel_view const& view, std::vector<finding>& found);
void look_at_imbalance(kernel_view const& view, std::vector<finding>& found);
// low_occupancy.cpp
void look_at_occupancy(kernel_view const& view, std::vector<finding>& found);

}  // namespace gpuprof::host::advice

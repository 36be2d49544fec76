// SPDX-License-Identifier: Apache-2.0
// One kernel as rules see it, the metrics from its counters, and the functions of the rules on
// kernels.
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

// Computes metrics of one kernel from its raw counters: use of units, stall reasons, waste.

/// The reasons why a warp could not issue, with CUPTI's names.
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

/// A member is empty if any counter it needs was not read. Shares are from 0 to 1.
struct derived_metrics {
  // used share of the issue slots of all schedulers while SMs were active
  std::optional<double> issue_use;
  /// Shares of the time that warps wait, without the time in which a warp was ready but not chosen.
  std::array<std::optional<double>, stall_reason_count> stall_shares;
  std::optional<double> idle_sms;  // share of the kernel in which SMs wait for the busiest one
  std::optional<double> sectors_per_load;  // 32-byte sectors that a warp's load touches
  // share of the fetched bytes that was asked for; loads and stores
  std::optional<double> sector_use;
  // share of shared-memory cycles that repeat an access because of a bank conflict
  std::optional<double> conflict_share;
  std::optional<double> shared_pipe_use;  // share of cycles in which shared memory was accessed
  std::optional<double> threads_per_instruction;  // active threads, of 32
  std::optional<double> l1_miss, l2_miss;         // shares of sectors
  std::optional<double> l1_share;                 // of the sectors that L1 can serve in this time
  // share of L1's sectors that are neither global loads nor stores
  std::optional<double> other_sectors;

  std::optional<top_stall> longest_wait() const noexcept;
};

/// `sm_count` is 0 if it is not known.
derived_metrics derive(kernel_facts const& kernel, std::uint32_t sm_count);

/// A line of run_facts::kernels. The objects that it refers to must outlive it.
struct kernel_view {
  run_facts const& run;
  kernel_facts const& kernel;
  device_facts const* gpu = nullptr;
  std::size_t line = 0;
  derived_metrics seen;
  double window_share = 0;  // of its GPU's window: launches of this name, in any geometry

  double time() const noexcept { return kernel.total_ns; }
  double mean_ns() const noexcept { return time() / static_cast<double>(kernel.launches); }
  /// True if the kernel ran without other kernels for most of its time.
  bool is_alone() const noexcept { return kernel.alone_ns >= 0.5 * kernel.total_ns; }
  std::optional<double> best_share() const noexcept { return kernel.figures.of_roof; }
  double share_of(std::size_t roof) const noexcept {
    return kernel.figures.shares[roof].value_or(0);
  }
  /// The higher share of DRAM and L2.
  double memory_share() const noexcept;
  double tensor_active() const noexcept { return kernel.figures.tensor_active.value_or(0); }
  bool is_latency_bound() const noexcept;
  std::uint32_t sm_count() const noexcept { return gpu != nullptr ? gpu->record.sm_count : 0; }
  double blocks() const noexcept;
  std::uint32_t threads_per_block() const noexcept;
  std::optional<sm_limits> sm() const;
  std::optional<occupancy> theoretical_occupancy() const;
  std::optional<double> peak(std::string_view test) const;
  /// Tensor-core FLOP per second, summed over all precisions. Nothing: not known, or none.
  std::optional<double> tensor_rate() const noexcept;
  /// "counted" if read around launches, else "sampled", "fitted" ...
  std::string source_of_flops() const;
  std::string source_of_share(std::size_t roof) const;
  /// Of the highest share, which `best_share()` returns.
  std::string source_of_best() const;
  /// "achieved", with its error.
  evidence achieved() const;
  /// The precision of most of its tensor-core FLOP.
  std::optional<precision> tensor_precision() const noexcept;
};

/// "counted" for what was read around launches, else the name of the source.
std::string source_text(figure_source source);

using kernel_look = void (*)(kernel_view const&, std::vector<finding>&);

/// Minimum shares of a GPU's window for launches of one name: for a finding of its own, and to be
/// counted in a finding on many kernels.
inline constexpr double least_time_of_one = 0.01, least_time_of_many = 0.001;
/// Share of issue slots above which a kernel has enough warps, as in Nsight Compute.
inline constexpr double full_issue = 0.6;

/// Returns kernels that are not communication, have at least three launches of this name and this
/// share of the window.
std::vector<kernel_view> kernels_worth_a_look(run_facts const& facts, double least_window_share);

/// The `look` function of a rule that looks at each kernel separately.
template <kernel_look look_at>
void at_each_kernel(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& view : kernels_worth_a_look(facts, least_time_of_one)) look_at(view, found);
}
/// As at_each_kernel(), but all findings get the same family.
template <kernel_look look_at>
void at_many_kernels(run_facts const& facts, std::vector<finding>& found) {
  for (auto const& view : kernels_worth_a_look(facts, least_time_of_many)) look_at(view, found);
}

/// Returns a finding with all fields set that do not depend on the rule.
finding finding_on(kernel_view const& view, std::string_view rule, kernel_claim claim,
                   std::string what);

/// `possible`: a gain that is not certain (low is 0). `founded`: a gain of which half is certain.
inline time_gain possible(double high_ns) noexcept {
  return {0, high_ns};
}
inline time_gain founded(double high_ns) noexcept {
  return {high_ns / 2, high_ns};
}

// Declares the functions of the rules on kernels; kernel_rules.cpp describes each rule.

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

// SPDX-License-Identifier: Apache-2.0
#include "host/advice/derived_metrics.hpp"

#include <algorithm>
#include <initializer_list>

namespace gpuprof::host::advice {
namespace {

using figure = std::optional<double>;

constexpr double schedulers_per_sm = 4;
constexpr double sector_bytes = 32;
constexpr double sectors_per_l1_cycle = 4;  // 128 bytes

constexpr std::array<std::string_view, stall_reason_count> reason_names = {
    "long_scoreboard", "short_scoreboard",   "wait", "barrier", "lg_throttle",
    "mio_throttle",    "math_pipe_throttle", "gmma"};

figure ratio(figure part, figure whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

figure share(figure part, figure whole) {
  auto const all = ratio(part, whole);
  return all ? figure(std::clamp(*all, 0.0, 1.0)) : std::nullopt;
}

figure rest(figure taken) {
  return taken ? figure(1 - *taken) : std::nullopt;
}

/// What of these was read, added up; nothing where the first is missing.
figure sum(kernel_facts const& kernel, std::initializer_list<char const*> names) {
  figure all;
  for (auto const* const name : names) {
    auto const one = kernel.metric(name);
    if (one)
      all = all.value_or(0) + *one;
    else if (name == *names.begin())
      return std::nullopt;
  }
  return all;
}

/// Cycles of all SMs together while they were active.
figure sm_cycles(kernel_facts const& kernel, std::uint32_t sm_count) {
  auto const mean = kernel.metric("sm__cycles_active.avg");
  return mean && sm_count != 0 ? figure(*mean * sm_count) : std::nullopt;
}

void add_stalls(kernel_facts const& kernel, derived_metrics& seen) {
  auto const active = kernel.metric("smsp__warps_active.sum");
  auto const issued = kernel.metric("smsp__issue_active.sum");
  if (!active || !issued) return;
  auto const ready = kernel.metric("smsp__warps_issue_stalled_not_selected.sum").value_or(0);
  for (std::size_t i = 0; i < stall_reason_count; ++i)
    seen.stall_shares[i] =
        share(kernel.metric("smsp__warps_issue_stalled_" + std::string(reason_names[i]) + ".sum"),
              *active - *issued - ready);
}

/// Of a direction, and by how much it counts.
struct used_sectors {
  figure use;
  double sectors = 0;
};

used_sectors use_of(kernel_facts const& kernel, std::string const& direction) {
  auto const bytes = kernel.metric("smsp__sass_average_data_bytes_per_sector_mem_global_op_" +
                                   direction + ".ratio");
  auto const sectors =
      kernel.metric("l1tex__t_sectors_pipe_lsu_mem_global_op_" + direction + ".sum");
  // A ratio of nothing reads as 0.
  if (!bytes || *bytes <= 0 || (sectors && *sectors <= 0)) return {};
  return {share(bytes, sector_bytes), sectors.value_or(1)};
}

figure use_of_sectors(kernel_facts const& kernel) {
  auto const loads = use_of(kernel, "ld"), stores = use_of(kernel, "st");
  if (!loads.use) return stores.use;
  if (!stores.use) return loads.use;
  return (*loads.use * loads.sectors + *stores.use * stores.sectors) /
         (loads.sectors + stores.sectors);
}

void add_shared_memory(kernel_facts const& kernel, figure cycles, derived_metrics& seen) {
  auto const wavefronts = sum(kernel, {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                       "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"});
  auto const conflicts = sum(kernel, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"});
  seen.conflict_share = share(conflicts, wavefronts);
  seen.shared_pipe_use = share(wavefronts, cycles);
}

void add_caches(kernel_facts const& kernel, figure cycles, derived_metrics& seen) {
  auto const sectors = kernel.metric("l1tex__t_sectors.sum");
  seen.l1_miss = rest(share(kernel.metric("l1tex__t_sectors_lookup_hit.sum"), sectors));
  seen.l1_share = share(sectors, cycles ? figure(*cycles * sectors_per_l1_cycle) : std::nullopt);
  auto const global = sum(kernel, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                   "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"});
  seen.other_sectors = rest(share(global, sectors));
  auto const l2_bytes = kernel.metric("lts__t_bytes.sum");
  seen.l2_miss = share(kernel.metric("lts__t_sectors_lookup_miss.sum"),
                       l2_bytes ? figure(*l2_bytes / sector_bytes) : std::nullopt);
}

}  // namespace

std::string_view name_of(stall_reason reason) noexcept {
  return reason_names[static_cast<std::size_t>(reason)];
}

std::optional<top_stall> derived_metrics::longest_wait() const noexcept {
  std::optional<top_stall> top;
  for (std::size_t i = 0; i < stall_reason_count; ++i)
    if (stall_shares[i] && (!top || *stall_shares[i] > top->share))
      top = top_stall{static_cast<stall_reason>(i), *stall_shares[i]};
  return top;
}

derived_metrics derive(kernel_facts const& kernel, std::uint32_t sm_count) {
  derived_metrics seen;
  if (kernel.metrics.empty()) return seen;
  auto const cycles = sm_cycles(kernel, sm_count);
  seen.issue_use = share(kernel.metric("smsp__issue_active.sum"),
                         cycles ? figure(*cycles * schedulers_per_sm) : std::nullopt);
  add_stalls(kernel, seen);
  seen.idle_sms =
      rest(share(kernel.metric("sm__cycles_active.avg"), kernel.metric("sm__cycles_active.max")));
  seen.sectors_per_load = ratio(kernel.metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
                                sum(kernel, {"smsp__inst_executed_op_global_ld.sum",
                                             "smsp__inst_executed_op_generic_ld.sum"}));
  seen.sector_use = use_of_sectors(kernel);
  add_shared_memory(kernel, cycles, seen);
  seen.threads_per_instruction = ratio(kernel.metric("smsp__thread_inst_executed_pred_on.sum"),
                                       kernel.metric("smsp__inst_executed.sum"));
  add_caches(kernel, cycles, seen);
  return seen;
}

}  // namespace gpuprof::host::advice

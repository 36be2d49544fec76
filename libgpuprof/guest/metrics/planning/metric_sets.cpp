// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/metric_sets.hpp"

#include "base/nearest_name.hpp"

#include <algorithm>
#include <cstdint>

namespace gpuprof::guest {
namespace {

/// Chips with the same metrics form a family. Each family is one bit.
using families = std::uint32_t;
constexpr families gv100 = 1u << 0;
constexpr families tu10x = 1u << 1;
constexpr families tu11x = 1u << 2;
constexpr families ga100 = 1u << 3;
constexpr families ga10x = 1u << 4;
constexpr families ga10b = 1u << 5;
constexpr families gh100 = 1u << 6;
constexpr families ad10x = 1u << 7;
constexpr families gb100 = 1u << 8;
constexpr families gb110 = 1u << 9;
constexpr families gb10b = 1u << 10;
constexpr families gb20x = 1u << 11;
constexpr families gb20b = 1u << 12;
constexpr families every = (1u << 13) - 1;

constexpr families on_soc = ga10b | gb10b | gb20b;  // chips that use the processor's memory
constexpr families gb10x = gb100 | gb110;
constexpr families blackwell = gb10x | gb10b | gb20x | gb20b;
constexpr families before_ampere = gv100 | tu10x | tu11x;

struct counted_chip {
  std::string_view name;
  families family;
};
constexpr counted_chip chips[] = {
    {"GV100", gv100}, {"GV11B", 0},  // CUPTI knows the name but has no counters for it
    {"TU102", tu10x}, {"TU104", tu10x}, {"TU106", tu10x}, {"TU116", tu11x}, {"TU117", tu11x},
    {"GA100", ga100}, {"GA102", ga10x}, {"GA103", ga10x}, {"GA104", ga10x}, {"GA106", ga10x},
    {"GA107", ga10x}, {"GA10B", ga10b}, {"GH100", gh100}, {"AD102", ad10x}, {"AD103", ad10x},
    {"AD104", ad10x}, {"AD106", ad10x}, {"AD107", ad10x}, {"GB100", gb100}, {"GB102", gb100},
    {"GB110", gb110}, {"GB10B", gb10b}, {"GB202", gb20x}, {"GB203", gb20x}, {"GB205", gb20x},
    {"GB206", gb20x}, {"GB207", gb20x}, {"GB20B", gb20b}};

constexpr unsigned basic = 1, roofline = 2, memory = 4, full = 8, explain = 16;
constexpr unsigned all_sets = basic | roofline | memory | full | explain;

struct set_metric {
  char const* name;
  unsigned sets;
  families present = every;
};

// The most important metrics come first: passes are filled in this order.
constexpr set_metric table[] = {
    {"sm__cycles_active.avg", all_sets},
    {"sm__cycles_elapsed.avg.per_second", all_sets},  // the SM clock
    {"sm__warps_active.avg.pct_of_peak_sustained_active", all_sets},
    {"dram__bytes_read.sum", all_sets, every & ~(on_soc | gb20x)},
    {"dram__bytes_write.sum", all_sets, every & ~(on_soc | gb20x)},
    {"dram__bytes_op_read.sum", all_sets, gb20x},
    {"dram__bytes_op_write.sum", all_sets, gb20x},
    {"lts__t_bytes.sum", roofline | memory | full | explain},
    {"sm__pipe_tensor_cycles_active.avg", roofline | full | explain},
    // For sampling, which cannot count operations. Fits into one pass with all of the above.
    {"TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum", roofline | full | explain, gh100},

    // CUDA core instructions. CUPTI patches the kernel to count these.
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_ffma2_pred_on.sum", roofline | full | explain, gb10x},
    {"smsp__sass_thread_inst_executed_op_fmul2_pred_on.sum", roofline | full | explain, gb10x},
    {"smsp__sass_thread_inst_executed_op_fadd2_pred_on.sum", roofline | full | explain, gb10x},
    {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", roofline | full | explain},
    {"smsp__sass_thread_inst_executed_op_qfma4_pred_on.sum", roofline | full | explain, gb10x},
    {"smsp__sass_thread_inst_executed_op_qmul4_pred_on.sum", roofline | full | explain, gb10x},
    {"smsp__sass_thread_inst_executed_op_qadd4_pred_on.sum", roofline | full | explain, gb10x},
    // Every kernel has an EXIT. If this is 0, the kernel was not rewritten.
    {"smsp__sass_thread_inst_executed_op_control_pred_on.sum", roofline | full | explain},
    // These count most instructions but no FLOP. They make rewritten kernels far slower.
    {"smsp__sass_thread_inst_executed_op_integer_pred_on.sum", full},

    // Tensor core operations, by operand type.
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", roofline | full, every & ~before_ampere},
    {"sm__ops_path_tensor_src_fp16.sum", roofline | full, gh100},
    {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", roofline | full,
     every & ~(tu10x | tu11x | gh100)},
    {"sm__ops_path_tensor_src_fp16_dst_fp16.sum", roofline | full, every & ~(tu11x | gh100)},
    {"sm__ops_path_tensor_src_fp16_bf16_tf32_dst_fp32.sum", roofline | full, tu10x},
    {"sm__ops_path_tensor_src_fp8.sum", roofline | full, gh100 | ad10x},
    {"sm__ops_path_tensor_src_fp8_dst_fp32.sum", roofline | full, gb110 | gb20x | gb20b},
    {"sm__ops_path_tensor_src_fp8_dst_fp16.sum", roofline | full, gb110 | gb20x | gb20b},
    {"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum", roofline | full, gb100 | gb10b},
    {"sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp16.sum", roofline | full, gb100 | gb10b},
    {"sm__ops_path_tensor_src_fp4_fp6_dst_fp32.sum", roofline | full, gb110 | gb20x | gb20b},
    {"sm__ops_path_tensor_src_fp4_fp6_dst_fp16.sum", roofline | full, gb110 | gb20x | gb20b},
    {"sm__ops_path_tensor_src_fp4_dst_fp32.sum", roofline | full, blackwell},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", roofline | full, every & ~before_ampere},
    {"sm__ops_path_tensor_src_int8.sum", roofline | full, every & ~(gv100 | tu11x)},
    {"sm__ops_path_tensor_src_fp64.sum", roofline | full, every & ~before_ampere},

    {"l1tex__t_bytes.sum", memory | full | explain},
    {"l1tex__t_sector_hit_rate.pct", memory | full},
    {"lts__t_sectors_op_read.sum", memory | full | explain},
    {"lts__t_sectors_op_write.sum", memory | full | explain},
    {"lts__t_sectors_op_atom.sum", memory | full},
    {"lts__t_sectors_op_red.sum", memory | full},
    {"lts__t_sector_hit_rate.pct", memory | full},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", memory | full},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", memory | full},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", memory | full},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", memory | full},
    {"pcie__read_bytes.sum", memory | full, every & ~on_soc},
    {"pcie__write_bytes.sum", memory | full, every & ~on_soc},
    {"nvlrx__bytes.sum", memory | full, gv100 | tu10x | ga100 | ga10x | gh100 | gb10x},
    {"nvltx__bytes.sum", memory | full, gv100 | tu10x | ga100 | ga10x | gh100 | gb10x},
    {"ctc__rx_bytes.sum", memory | full, gh100 | gb10x},  // NVLink-C2C to the processor
    {"ctc__tx_bytes.sum", memory | full, gh100 | gb10x},

    {"sm__inst_executed.avg.per_cycle_active", full},  // IPC
    {"smsp__issue_active.avg.pct_of_peak_sustained_active", full},
    {"smsp__warps_eligible.avg.per_cycle_active", full},
    {"smsp__thread_inst_executed_per_inst_executed.ratio", full},
    {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", full},
    {"sm__inst_executed_pipe_fma.sum", full},
    {"sm__inst_executed_pipe_alu.sum", full},
    {"sm__inst_executed_pipe_lsu.sum", full},
    {"sm__inst_executed_pipe_xu.sum", full},
    {"sm__inst_executed_pipe_fp64.sum", full},
    {"sm__inst_executed_pipe_fp16.sum", full, before_ampere | ga100},
    {"sm__inst_executed_pipe_tensor.sum", full},
    {"sm__inst_executed_pipe_tma.sum", full, gh100 | blackwell},
    {"sm__inst_executed_pipe_uniform.sum", full, every & ~gv100},
    {"sm__inst_executed_pipe_tex.sum", full},
    {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", full, gh100},
    {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", full, every & ~blackwell},
    {"smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio", full},
    {"smsp__average_warps_issue_stalled_misc_per_issue_active.ratio", full},

    // Raw counters that show what slows a kernel. Ratios are computed after reading.
    {"sm__cycles_active.max", explain},
    {"sm__cycles_active.min", explain},
    {"smsp__issue_active.sum", explain},
    {"smsp__warps_active.sum", explain},
    {"smsp__inst_executed.sum", explain},
    {"l1tex__t_sectors.sum", explain},
    {"l1tex__t_sectors_lookup_hit.sum", explain},
    {"lts__cycles_active.avg", explain},
    {"dram__cycles_active.avg", explain, every & ~on_soc},
    // coalescing
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", explain},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", explain},
    {"smsp__inst_executed_op_global_ld.sum", explain},
    {"smsp__inst_executed_op_global_st.sum", explain},
    {"smsp__inst_executed_op_generic_ld.sum", explain},
    {"smsp__inst_executed_op_generic_st.sum", explain},
    {"lts__t_sectors_lookup_miss.sum", explain},
    // shared memory
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", explain},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", explain},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", explain},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", explain},
    {"smsp__inst_executed_op_shared_ld.sum", explain},
    {"smsp__inst_executed_op_shared_st.sum", explain},
    {"smsp__inst_executed_op_ldsm.sum", explain, every & ~gv100},
    // divergence
    {"sm__ctas_launched.sum", explain},
    {"smsp__warps_launched.sum", explain},
    {"smsp__thread_inst_executed.sum", explain},
    {"smsp__thread_inst_executed_pred_on.sum", explain},
    // stall reasons of warps, in the groups that share a pass
    {"smsp__warps_issue_stalled_gmma.sum", explain, gh100},
    {"smsp__warps_issue_stalled_mio_throttle.sum", explain},
    {"smsp__warps_issue_stalled_math_pipe_throttle.sum", explain},
    {"smsp__warps_issue_stalled_wait.sum", explain},
    {"smsp__warps_issue_stalled_lg_throttle.sum", explain},
    {"smsp__warps_issue_stalled_barrier.sum", explain},
    {"smsp__warps_issue_stalled_not_selected.sum", explain},
    {"smsp__warps_issue_stalled_short_scoreboard.sum", explain},
    {"smsp__warps_issue_stalled_long_scoreboard.sum", explain},
    // counted in rewritten kernels, together with the operations above
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", explain},
    {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", explain},
    {"smsp__sass_average_data_bytes_per_sector_mem_local_op_ld.ratio", explain},
    {"smsp__sass_average_data_bytes_per_sector_mem_local_op_st.ratio", explain},
    {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.ratio", explain},
    {"smsp__sass_inst_executed_op_memory_8b.sum", explain},
    {"smsp__sass_inst_executed_op_memory_16b.sum", explain},
    {"smsp__sass_inst_executed_op_memory_32b.sum", explain},
    {"smsp__sass_inst_executed_op_memory_64b.sum", explain},
    {"smsp__sass_inst_executed_op_memory_128b.sum", explain},
    {"smsp__sass_average_branch_targets_threads_uniform.pct", explain},
};

constexpr metric_set_name names[] = {
    {metric_set::basic, "basic", "duration, SM activity and clock, occupancy, DRAM bytes"},
    {metric_set::roofline, "roofline",
     "basic, operations by precision on CUDA and tensor cores, L2 bytes"},
    {metric_set::memory, "memory",
     "basic, L2, L1 and shared memory with hit rates, PCIe and NVLink bytes"},
    {metric_set::full, "full", "all of these, instructions, issue and stall reasons"},
    {metric_set::explain, "explain",
     "why a kernel is slow: coalescing, bank conflicts, divergence, stall reasons, FLOP of CUDA "
     "cores"},
};

unsigned bit_of(metric_set set) noexcept {
  switch (set) {
    case metric_set::basic:
      return basic;
    case metric_set::roofline:
      return roofline;
    case metric_set::memory:
      return memory;
    case metric_set::explain:
      return explain;
    case metric_set::full:
      break;
  }
  return full;
}

families family_of(std::string_view chip) noexcept {
  auto const* const found =
      std::find_if(std::begin(chips), std::end(chips),
                   [&](counted_chip const& known) { return known.name == chip; });
  return found != std::end(chips) ? found->family : every;
}

/// All metric names contain this, set names never do.
bool looks_like_a_metric(std::string_view word) noexcept {
  return word.find("__") != std::string_view::npos;
}

}  // namespace

std::span<metric_set_name const> metric_sets() noexcept {
  return names;
}

std::optional<metric_set> metric_set_named(std::string_view name) noexcept {
  for (auto const& known : names)
    if (known.name == name) return known.set;
  return std::nullopt;
}

set_contents contents_of(metric_set set, std::string_view chip) {
  auto const family = family_of(chip);
  set_contents contents;
  for (auto const& metric : table) {
    if ((metric.sets & bit_of(set)) == 0) continue;
    auto& list = (metric.present & family) != 0 ? contents.metrics : contents.absent;
    list.emplace_back(metric.name);
  }
  return contents;
}

bool tensor_pipe_runs_all(std::string_view chip) noexcept {
  auto const* const known = std::find_if(std::begin(chips), std::end(chips),
                                         [&](counted_chip const& one) { return one.name == chip; });
  return known != std::end(chips) && (known->family & (ga100 | gh100 | gb100)) != 0;
}

result<std::vector<std::string>> chosen_metrics(std::span<std::string const> words,
                                                std::string_view chip) {
  std::vector<std::string> chosen;
  auto const add = [&](std::string const& name) {
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) chosen.push_back(name);
  };
  for (auto const& word : words) {
    if (auto const set = metric_set_named(word)) {
      for (auto const& metric : contents_of(*set, chip).metrics) add(metric);
    } else if (word.starts_with("gpu__time_")) {
      return error{"'" + word + "' is not read: around a launch it would hold 12 to 24 us of the " +
                   "reading itself; the reports of kernels have the traced time of each"};
    } else if (looks_like_a_metric(word)) {
      add(word);
    } else {
      std::vector<std::string> known;
      for (auto const& name : names) known.emplace_back(name.name);
      auto line = "there is no metric or set '" + word + "'";
      if (auto const nearest = nearest_name(word, known); !nearest.empty())
        line += ", did you mean " + nearest + "?";
      line += "; sets are";
      for (auto const& name : known) line += ' ' + name;
      return error{line + ", and gpuprof metrics lists the metrics"};
    }
  }
  return chosen;
}

}  // namespace gpuprof::guest

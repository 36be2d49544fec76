// SPDX-License-Identifier: Apache-2.0
// Says for each kernel and range what it achieved, what holds it back, and how far the roof is.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/operation_rates.hpp"
#include "host/analysis/range_workloads.hpp"
#include "host/analysis/roofline_row.hpp"
#include "host/analysis/workload_metrics.hpp"
#include "host/analysis/workload_times.hpp"
#include "model/measured_roofs.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

struct roofline_device {
  std::string chip;  // "GH100"; empty: not known
  measured_roofs roofs;
};

class roofline {
 public:
  /// The first three outlive it; `times` is complete.
  roofline(workload_metrics const& metrics, workload_times const& times,
           std::map<device_id, roofline_device> const& devices,
           std::span<kernel_shape const> shapes, kernel_codes const& codes = {});

  /// Longest total time first, each.
  std::vector<roofline_row> by_signature(kernel_labels const& labels,
                                         std::span<kernel_shape const> shapes) const;
  std::vector<roofline_row> by_kernel(kernel_labels const& labels) const;
  /// What counters read around a graph, else its kernels added up.
  std::vector<roofline_row> by_graph(kernel_labels const& labels) const;
  std::vector<roofline_row> by_range(std::span<range_work const> ranges,
                                     std::function<std::string(range_key)> const& name_of) const;

  double gpu_ns() const noexcept { return gpu_ns_; }
  /// Shares of the time of all kernels whose bytes are known.
  double dram_share() const noexcept { return gpu_ns_ > 0 ? dram_ns_ / gpu_ns_ : 0; }
  double l2_share() const noexcept { return gpu_ns_ > 0 ? l2_ns_ / gpu_ns_ : 0; }
  /// Share of the time of all kernels whose FLOP are known: all, or those of the tensor cores.
  double known_share() const noexcept { return gpu_ns_ > 0 ? known_ns_ / gpu_ns_ : 0; }
  /// Of this: those of which other ranks of the job read at least some counters.
  double other_ranks_share() const noexcept { return gpu_ns_ > 0 ? other_ranks_ns_ / gpu_ns_ : 0; }
  /// Of this: those counted in full, and those that have none.
  double exact_share() const noexcept { return gpu_ns_ > 0 ? counted_ns_ / gpu_ns_ : 0; }
  /// Those whose machine code has none.
  double without_flop_share() const noexcept { return gpu_ns_ > 0 ? without_ns_ / gpu_ns_ : 0; }
  /// Where only those of the tensor cores were.
  double tensor_share() const noexcept { return gpu_ns_ > 0 ? tensor_ns_ / gpu_ns_ : 0; }
  /// Where those are taken from the cycles of the tensor cores.
  double cycles_share() const noexcept { return gpu_ns_ > 0 ? cycles_ns_ / gpu_ns_ : 0; }
  /// Where those of CUDA cores are taken from the instructions of their FMA pipes.
  double fma_share() const noexcept { return gpu_ns_ > 0 ? fma_ns_ / gpu_ns_ : 0; }

 private:
  struct launched_part {
    std::uint32_t workload = 0;
    std::uint64_t launches = 0;
    double ns = 0;
  };
  workload_figures figures_of(std::uint32_t workload) const;
  void compare(workload_figures& of, workload_id const& id) const;
  void read_units(workload_figures& of, workload_id const& id) const;
  void read_tensor_cycles(workload_figures& of, workload_id const& id) const;
  void read_fma_instructions(workload_figures& of, workload_id const& id) const;
  launched_part whole(std::uint32_t workload) const;
  bool is_known_by_nodes(std::uint32_t workload) const noexcept;
  void add_parts(std::vector<launched_part>& parts, std::uint32_t workload,
                 launch_tally const& tally) const;
  std::optional<double> nodes_exceed(std::uint32_t graph,
                                     std::span<std::string_view const> metrics) const;
  nodes_check check_nodes(std::uint32_t graph) const;
  /// What of_roof and bound are from.
  enum class judged_by { own_figures, kernels };
  roofline_row sum(std::span<launched_part const> parts, judged_by verdict) const;
  void judge_by_own_figures(roofline_row& row) const;
  void judge_by_kernels(roofline_row& row, std::span<launched_part const> parts) const;

  workload_metrics const& metrics_;
  workload_times const& times_;
  std::map<device_id, roofline_device> const& devices_;
  tensor_rates tensor_rates_;
  fma_rates fma_rates_;
  std::vector<workload_figures> figures_;  // by workload
  double gpu_ns_ = 0, known_ns_ = 0, counted_ns_ = 0, without_ns_ = 0, tensor_ns_ = 0,
         cycles_ns_ = 0, fma_ns_ = 0, dram_ns_ = 0, l2_ns_ = 0, other_ranks_ns_ = 0;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// Computes for each kernel and range what it achieved, what limits it and how far its roof is.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/occupancy.hpp"
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
#include <utility>
#include <vector>

namespace gpuprof::host {

struct roofline_device {
  std::string chip;  // "GH100"; empty: not known
  measured_roofs roofs;
  std::optional<sm_limits> sm;  // nothing: not known
};

class roofline {
 public:
  /// The first three arguments must outlive this object; `times` must be complete.
  roofline(workload_metrics const& metrics, workload_times const& times,
           std::map<device_id, roofline_device> const& devices,
           std::span<kernel_shape const> shapes, kernel_codes const& codes = {});

  /// Each returns rows with the longest total time first.
  std::vector<roofline_row> by_signature(kernel_labels const& labels,
                                         std::span<kernel_shape const> shapes) const;
  std::vector<roofline_row> by_kernel(kernel_labels const& labels) const;
  /// Takes labels of style `kind`. Each kernel can only reach its own roof, as in ranges.
  std::vector<roofline_row> by_kind(kernel_labels const& kinds) const;
  /// All kernels together, without a name.
  roofline_row all() const;
  /// Uses the counters read around the whole graph, else the sum of its kernels.
  std::vector<roofline_row> by_graph(kernel_labels const& labels) const;
  std::vector<roofline_row> by_range(std::span<range_work const> ranges,
                                     std::function<std::string(range_key)> const& name_of) const;

  /// Work of any origin, without a name. A workload must not occur twice.
  roofline_row of_parts(std::span<launched_part const> work) const;
  /// The same for the work of a range.
  roofline_row of_range(range_work const& range) const;

  double gpu_ns() const noexcept { return gpu_ns_; }
  /// Shares of the time of all kernels for which DRAM or L2 bytes are known.
  double dram_share() const noexcept { return gpu_ns_ > 0 ? dram_ns_ / gpu_ns_ : 0; }
  double l2_share() const noexcept { return gpu_ns_ > 0 ? l2_ns_ / gpu_ns_ : 0; }
  /// Share of the time of all kernels whose FLOP are known, in total or for the tensor cores.
  double known_share() const noexcept { return gpu_ns_ > 0 ? known_ns_ / gpu_ns_ : 0; }
  /// Part of it: kernels for which other ranks of the job read at least some counters.
  double other_ranks_share() const noexcept { return gpu_ns_ > 0 ? other_ranks_ns_ / gpu_ns_ : 0; }
  /// Part of it: kernels whose FLOP were counted in full, or that have none.
  double exact_share() const noexcept { return gpu_ns_ > 0 ? counted_ns_ / gpu_ns_ : 0; }
  /// Part of it: kernels whose machine code has no FLOP.
  double without_flop_share() const noexcept { return gpu_ns_ > 0 ? without_ns_ / gpu_ns_ : 0; }
  /// Part of it: kernels of which only the tensor-core FLOP are known.
  double tensor_share() const noexcept { return gpu_ns_ > 0 ? tensor_ns_ / gpu_ns_ : 0; }
  /// Part of it: kernels whose FLOP are derived from tensor-core cycles.
  double cycles_share() const noexcept { return gpu_ns_ > 0 ? cycles_ns_ / gpu_ns_ : 0; }
  /// Part of that: the FLOP of one cycle were not measured on this chip.
  double planned_share() const noexcept { return gpu_ns_ > 0 ? planned_ns_ / gpu_ns_ : 0; }
  /// Part of it: kernels whose CUDA-core FLOP are derived from the instructions of the FMA pipes.
  double fma_share() const noexcept { return gpu_ns_ > 0 ? fma_ns_ / gpu_ns_ : 0; }

 private:
  std::vector<roofline_row> by_label(kernel_labels const& labels, bool has_many_kernels) const;
  workload_figures figures_of(std::uint32_t workload) const;
  void compare(workload_figures& of, workload_id const& id) const;
  void read_units(workload_figures& of, workload_id const& id) const;
  void find_occupancy_limits(std::span<kernel_shape const> shapes);
  void read_occupancy(workload_figures& of, workload_id const& id) const;
  void read_tensor_cycles(workload_figures& of, workload_id const& id) const;
  void read_fma_instructions(workload_figures& of, workload_id const& id) const;
  launched_part whole(std::uint32_t workload) const;
  bool is_known_by_nodes(std::uint32_t workload) const noexcept;
  void add_parts(std::vector<launched_part>& parts, launched_part const& whole) const;
  std::optional<double> nodes_exceed(std::uint32_t graph,
                                     std::span<std::string_view const> metrics) const;
  nodes_check check_nodes(std::uint32_t graph) const;
  /// The source of `of_roof` and `bound`.
  enum class judged_by { own_figures, kernels };
  roofline_row sum(std::span<launched_part const> parts, judged_by verdict) const;
  void judge_by_own_figures(roofline_row& row) const;
  void judge_by_kernels(roofline_row& row, std::span<launched_part const> parts) const;
  void find_peak(roofline_row& row, std::span<launched_part const> parts) const;

  workload_metrics const& metrics_;
  workload_times const& times_;
  std::map<device_id, roofline_device> const& devices_;
  tensor_rates tensor_rates_;
  fma_rates fma_rates_;
  std::map<std::pair<device_id, shape_id>, double> occupancy_limits_;
  std::vector<workload_figures> figures_;  // by workload
  double gpu_ns_ = 0, known_ns_ = 0, counted_ns_ = 0, without_ns_ = 0, tensor_ns_ = 0,
         cycles_ns_ = 0, planned_ns_ = 0, fma_ns_ = 0, dram_ns_ = 0, l2_ns_ = 0,
         other_ranks_ns_ = 0;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// What an instruction of the FMA pipes, and a cycle of the tensor cores, computes in a kernel: as
// another of its workloads was counted, or as its machine code says.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/workload_metrics.hpp"
#include "host/analysis/workload_times.hpp"
#include "model/flop_counters.hpp"
#include "model/kernel_code.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace gpuprof::host {

/// By the name of the kernel.
class kernel_codes {
 public:
  /// A later one of the same name replaces the earlier.
  void add(kernel_code_record const& row) { codes_[row.name] = code_of(row); }
  /// nullptr: its module was not seen.
  kernel_code const* find(name_id name) const noexcept {
    auto const found = codes_.find(name);
    return found == codes_.end() ? nullptr : &found->second;
  }
  bool empty() const noexcept { return codes_.empty(); }

 private:
  std::map<name_id, kernel_code> codes_;
};

/// Those of these kernels that are known to hold no instruction of the tensor cores.
std::set<shape_id> without_tensor_code(std::span<kernel_shape const> shapes,
                                       kernel_codes const& codes);

/// What a cycle of the tensor cores computes in a kernel.
struct tensor_rate {
  precision of{};
  double operations = 0;  // of the GPU, per cycle of sm__pipe_tensor_cycles_active.avg
  std::string_view peak_test;
  double error = 0;  // one standard error of it, as a share
};

/// Of a GPU.
struct chip_size {
  std::string_view chip;  // CUPTI's name; empty: not known
  std::uint32_t sm_count = 0;
};
/// Where all tensor instructions of the kernel are of one class, and it was measured what the chip
/// computes with it in a cycle.
std::optional<tensor_rate> rate_by_code(kernel_code const* code, chip_size const& gpu) noexcept;

/// Instructions of warps on the FMA pipes of all SMs, which samples count: multiply-adds, additions
/// and multiplications in FP32 and FP16, and integer multiplications.
inline constexpr std::string_view fma_instructions_of_gpu =
    "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum";

/// Operations for each such instruction of a warp.
struct fma_rate {
  double fp32 = 0, fp16 = 0;
  double below = 0, above = 0;  // errors of both: how far the truth may lie there, as shares
  /// The rate holds if all lanes of the warps compute, and nothing says whether they do.
  bool is_limit = false;
};

/// From the code alone, by how many of its instructions compute. The truth may be half more, but
/// not more than the pipes can do. It is less where lanes are off, down to one lane of a warp.
/// Nothing where the code is not known in full or has tensor instructions, or the chip counts these
/// instructions in another way.
std::optional<fma_rate> fma_rate_by_code(kernel_code const* code, std::string_view chip) noexcept;

/// Kernels of one name have one code: where the operations of one of its workloads were counted
/// around launches and its instructions sampled, their ratio holds for the others on that GPU.
class fma_rates {
 public:
  fma_rates(workload_metrics const& metrics, workload_times const& times,
            std::span<kernel_shape const> shapes,
            std::function<std::string_view(device_id)> const& chip_of, kernel_codes const& codes);

  /// Of workloads that compute on CUDA cores alone.
  std::optional<fma_rate> of(workload_id const& workload) const;

 private:
  using kernel_key = std::pair<device_id, name_id>;
  struct counted_rate {
    double instructions = 0, fp32 = 0, fp16 = 0, least = 0, greatest = 0;
    std::uint32_t workloads = 0;
  };
  void add(workload_metrics const& metrics, workload_id const& workload, std::string_view chip);
  kernel_code const* code_of(workload_id const& workload) const;

  std::map<shape_id, name_id> names_;
  std::map<kernel_key, counted_rate> rates_;
  std::map<device_id, std::string_view> chips_;
  kernel_codes codes_;
};

// What a cycle of the tensor cores computes in a kernel: as another geometry of it was counted, or
// as its machine code says.

/// Workloads of one kernel agree within this, or the ratio is not the kernel's. What is taken from
/// it is off by half of that, one standard error.
inline constexpr double tensor_rate_agreement = 1.05;
inline constexpr double tensor_rate_error = (tensor_rate_agreement - 1) / 2;

/// Kernels of one name are compiled for one precision: where operations and cycles of one of its
/// workloads were counted around launches, their ratio holds for the others on that GPU. Where
/// none was, the machine code says which instructions the kernel has.
class tensor_rates {
 public:
  tensor_rates() = default;
  tensor_rates(launch_metrics const& counted, workload_times const& times,
               std::span<kernel_shape const> shapes,
               std::function<chip_size(device_id)> const& chip_of, kernel_codes const& codes = {});

  std::optional<tensor_rate> of(workload_id const& workload) const;
  /// nullptr for graphs, and where it is not known.
  kernel_code const* code_of(workload_id const& workload) const;

 private:
  using kernel_key = std::pair<device_id, name_id>;
  struct counted_rate {
    tensor_rate rate;
    double least = 0, greatest = 0;  // operations per cycle
    bool is_clear = true;            // one precision in all of its workloads
  };
  std::map<shape_id, name_id> names_;
  std::map<kernel_key, counted_rate> rates_;
  kernel_codes codes_;
  std::map<device_id, chip_size> chips_;
};

}  // namespace gpuprof::host

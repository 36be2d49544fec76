// SPDX-License-Identifier: Apache-2.0
// What an instruction of the FMA pipes computes in a kernel: as another of its workloads was
// counted, or as its machine code says.
#pragma once

#include "host/analysis/kernel_codes.hpp"
#include "host/analysis/workload_metrics.hpp"
#include "host/analysis/workload_times.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace gpuprof::host {

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

}  // namespace gpuprof::host

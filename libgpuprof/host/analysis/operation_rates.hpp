// SPDX-License-Identifier: Apache-2.0
// Estimates the operations per FMA-pipe instruction and per tensor-core cycle of a kernel, from
// another counted workload of it or from its machine code.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/kernel_codes.hpp"
#include "host/analysis/workload_metrics.hpp"
#include "host/analysis/workload_times.hpp"
#include "model/flop_counters.hpp"
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

/// Returns the shapes whose code is known to have no tensor-core instruction.
std::set<shape_id> without_tensor_code(std::span<kernel_shape const> shapes,
                                       kernel_codes const& codes);

/// Operations that the tensor cores compute per cycle in one kernel.
struct tensor_rate {
  precision of{};
  double operations = 0;  // of the whole GPU, per cycle of sm__pipe_tensor_cycles_active.avg
  std::string_view peak_test;
  double error = 0;  // one standard error, as a share
  // The same, but shared by all kernels of the GPU: the rate was not measured on such a chip.
  double bias = 0;
};

/// Chip and number of SMs of a GPU.
struct chip_size {
  std::string_view chip;  // CUPTI's name; empty: not known
  std::uint32_t sm_count = 0;
};
/// Returns nothing unless all tensor instructions of the kernel are of one class whose operations
/// per cycle are known for this chip.
std::optional<tensor_rate> rate_by_code(kernel_code const* code, chip_size const& gpu) noexcept;

/// The sampled counter of warp instructions on the FMA pipes of all SMs: multiply-adds, additions
/// and multiplications in FP32 and FP16, and integer multiplications.
inline constexpr std::string_view fma_instructions_of_gpu =
    "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum";

/// Operations per warp instruction on the FMA pipes.
struct fma_rate {
  double fp32 = 0, fp16 = 0;
  // errors of both: how far the true value may be below or above, as shares
  double below = 0, above = 0;
  /// The rate assumes that all lanes of the warps compute, which is not known.
  bool is_limit = false;
};

/// Estimates the rate from the machine code only. The true rate may be up to 50 % higher, but not
/// above what the pipes can do; it is lower if lanes are off, down to one lane per warp. Returns
/// nothing if most of these instructions compute addresses, if the code is incomplete or has tensor
/// instructions, or if the chip counts these instructions in another way.
std::optional<fma_rate> fma_rate_by_code(kernel_code const* code, std::string_view chip) noexcept;

/// Kernels of one name have the same code. If one workload of a kernel has both counted operations
/// and sampled instructions, their ratio is used for the other workloads on that GPU.
class fma_rates {
 public:
  fma_rates(workload_metrics const& metrics, workload_times const& times,
            std::span<kernel_shape const> shapes,
            std::function<std::string_view(device_id)> const& chip_of, kernel_codes const& codes);

  /// Returns nothing for workloads that use tensor cores or whose code is not known in full.
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

// Computes the operations per tensor-core cycle of a kernel, from another counted workload of it or
// from its machine code.

/// The rates of a kernel's workloads must agree within this factor, otherwise they are not used.
/// Half of it is the standard error of the rate.
inline constexpr double tensor_rate_agreement = 1.05;
inline constexpr double tensor_rate_error = (tensor_rate_agreement - 1) / 2;

/// Kernels of one name are compiled for one precision. If operations and cycles of one workload
/// were counted around launches, their ratio is used for the others on that GPU. Otherwise the
/// machine code says which instructions the kernel has. If their rate was not measured on this
/// chip, that of counted kernels with the same instructions takes its place.
class tensor_rates {
 public:
  tensor_rates() = default;
  tensor_rates(launch_metrics const& counted, workload_times const& times,
               std::span<kernel_shape const> shapes,
               std::function<chip_size(device_id)> const& chip_of, kernel_codes const& codes = {});

  std::optional<tensor_rate> of(workload_id const& workload) const;
  /// Returns nullptr for graphs, and if the code is not known.
  kernel_code const* code_of(workload_id const& workload) const;

 private:
  using kernel_key = std::pair<device_id, name_id>;
  struct counted_rate {
    tensor_rate rate;
    double least = 0, greatest = 0;  // operations per cycle
    bool is_clear = true;            // all of its workloads use the same precision
    void add(double per_cycle, bool is_alike) noexcept;
    void end() noexcept;
  };
  std::map<shape_id, name_id> names_;
  std::map<kernel_key, counted_rate> rates_;
  std::map<std::pair<device_id, std::uint64_t>, counted_rate> by_class_;
  kernel_codes codes_;
  std::map<device_id, chip_size> chips_;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// What a cycle of the tensor cores computes in a kernel: as another geometry of it was counted, or
// as its machine code says.
#pragma once

#include "host/analysis/flop_accounting.hpp"
#include "host/analysis/kernel_codes.hpp"
#include "host/analysis/workload_times.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace gpuprof::host {

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

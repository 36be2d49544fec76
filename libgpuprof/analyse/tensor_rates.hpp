// What a cycle of the tensor cores computes in a kernel, where another geometry of it was counted.
#pragma once

#include "analyse/flop_accounting.hpp"
#include "analyse/workload_times.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>

namespace gpuprof {

/// Workloads of one kernel agree within this, or the ratio is not the kernel's. What is taken from
/// it is off by half of that, one standard error.
inline constexpr double tensor_rate_agreement = 1.05;
inline constexpr double tensor_rate_error = (tensor_rate_agreement - 1) / 2;

inline constexpr std::string_view tensor_cycles_of_sm = "sm__pipe_tensor_cycles_active.avg";

struct tensor_rate {
  precision of{};
  double operations = 0;  // per cycle of tensor_cycles_of_sm
  std::string_view peak_test;
};

/// Kernels of one name are compiled for one precision: where operations and cycles of one of its
/// workloads were counted around launches, their ratio holds for the others on that GPU.
class tensor_rates {
 public:
  tensor_rates() = default;
  /// `chip_of`: CUPTI's name; empty where it is not known.
  tensor_rates(launch_metrics const& counted, workload_times const& times,
               std::span<kernel_shape const> shapes,
               std::function<std::string_view(device_id)> const& chip_of);

  std::optional<tensor_rate> of(workload_id const& workload) const;

 private:
  using kernel_key = std::pair<device_id, name_id>;
  struct counted_rate {
    tensor_rate rate;
    double least = 0, greatest = 0;  // operations per cycle
    bool is_clear = true;            // one precision in all of its workloads
  };
  std::map<shape_id, name_id> names_;
  std::map<kernel_key, counted_rate> rates_;
};

}  // namespace gpuprof

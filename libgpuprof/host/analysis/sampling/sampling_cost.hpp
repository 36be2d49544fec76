// SPDX-License-Identifier: Apache-2.0
// Computes how much longer kernels take while the GPU is sampled.
#pragma once

#include "host/analysis/workload_times.hpp"

#include <map>
#include <optional>
#include <vector>

namespace gpuprof::host {

struct sampling_price {
  double ratio = 0;  // time inside windows / time outside, weighted median over workloads
  std::uint64_t workloads = 0;
};

/// The caller must add all windows first, then all kernels and graphs.
class sampling_cost {
 public:
  void add(sampling_window_record const& window);

  template <class Record>
  void add(Record const& launch, workload_times::seen const& seen) {
    if (!windows_.empty() && seen.how == sampling::none)
      add(seen.workload, launch.device, launch.start, launch.start + launch.duration);
  }

  /// Returns nullopt if no workload ran often enough both inside and outside.
  std::optional<sampling_price> price() const;

 private:
  enum class side { inside, outside, across };
  struct tally {
    std::uint64_t launches = 0;
    double ns = 0;
  };
  struct compared {
    tally inside, outside;
  };
  void add(std::uint32_t workload, device_id device, timestamp_ns start, timestamp_ns end);
  side side_of(device_id device, timestamp_ns start, timestamp_ns end) const;

  std::map<device_id, std::map<timestamp_ns, timestamp_ns>> windows_;  // start -> end
  std::vector<compared> workloads_;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// The critical path of a step where it was recorded: GPU work, calls and CPU work, one after the
// other.
#pragma once

#include "base/time.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

struct traced_link {
  timestamp_ns begin, end;
  std::string_view kind;  // "kernels", "copies", "cpu_work", "calls"
  std::string name;       // CPU work: the innermost range around it, or empty
  bool is_on_gpu = false;
  device_id device{};  // on a GPU
  stream_id stream{};
  std::uint32_t os_thread = 0;  // on the CPU; 0: not known
};

/// Between two links, work starts on the GPU, or nothing explains the delay.
struct traced_path {
  bool is_slowest = false;  // else the median step
  std::string step;         // name of the steps
  std::size_t steps = 0;    // number of steps that it was chosen from
  timestamp_ns begin, end;
  std::vector<traced_link> links;  // in order of time
};

}  // namespace gpuprof::host

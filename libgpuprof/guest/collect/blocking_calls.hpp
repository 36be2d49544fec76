// SPDX-License-Identifier: Apache-2.0
// The calls of CUDA that keep their thread waiting or are rare and long: those that explain why a
// GPU was idle. They alone are recorded where not all calls are.
#pragma once

#include "guest/cupti/api.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace gpuprof::guest {

/// By CUPTI's name: "cuMemcpyHtoD_v2_ptds", "cudaStreamSynchronize_v3020". Waits for a stream, an
/// event or a context; copies and fills that are not asynchronous; allocation of memory, pinning
/// included; code that is loaded; graphs that are instantiated.
bool is_blocking_call(std::string_view name) noexcept;

/// Those of the driver, in which calls of the runtime end: noted by what runs at both ends of each.
class blocking_calls {
 public:
  void learn(std::uint32_t driver_cbid, char const* name) noexcept {
    if (driver_cbid < has_.size()) has_[driver_cbid] = name != nullptr && is_blocking_call(name);
  }
  bool has(std::uint32_t driver_cbid) const noexcept {
    return driver_cbid < has_.size() && has_[driver_cbid];
  }
  void record(bool on) noexcept { are_recorded_.store(on, std::memory_order_relaxed); }

  // On the program's thread. The number that CUPTI keeps for a call is when it was entered; 0: the
  // beginning was not heard of.
  void entered(CUpti_CallbackData const& call) noexcept;
  void left(CUpti_CallbackId id, CUpti_CallbackData const& call) noexcept;

 private:
  std::array<bool, 1024> has_{};
  std::atomic<bool> are_recorded_{false};
};

}  // namespace gpuprof::guest

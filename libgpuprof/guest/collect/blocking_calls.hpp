// SPDX-License-Identifier: Apache-2.0
// Lists the CUDA calls that block their thread or are rare and long: they explain why a GPU was
// idle. When not all calls are recorded, these still are.
#pragma once

#include "guest/cupti/api.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace gpuprof::guest {

/// Takes CUPTI's name: "cuMemcpyHtoD_v2_ptds", "cudaStreamSynchronize_v3020". True for waits for a
/// stream, an event or a context; synchronous copies and fills; allocation and pinning of memory;
/// loading of code; instantiation of graphs.
bool is_blocking_call(std::string_view name) noexcept;

/// Notes blocking calls of the driver, which runtime calls end in. Driver calls report both their
/// entry and their end.
class blocking_calls {
 public:
  void learn(std::uint32_t driver_cbid, char const* name) noexcept {
    if (driver_cbid < has_.size()) has_[driver_cbid] = name != nullptr && is_blocking_call(name);
  }
  bool has(std::uint32_t driver_cbid) const noexcept {
    return driver_cbid < has_.size() && has_[driver_cbid];
  }
  void record(bool on) noexcept { are_recorded_.store(on, std::memory_order_relaxed); }

  // Called on the program's thread. CUPTI keeps the entry time of a call as its correlation data;
  // 0: the entry was not seen.
  void entered(CUpti_CallbackData const& call) noexcept;
  void left(CUpti_CallbackId id, CUpti_CallbackData const& call) noexcept;

 private:
  std::array<bool, 1024> has_{};
  std::atomic<bool> are_recorded_{false};
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Lists the CUDA calls that block their thread or are rare and long: they explain why a GPU was
// idle. When not all calls are recorded, these still are.
#pragma once

#include "guest/cupti/api.hpp"
#include "guest/stacks/native_stack.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace gpuprof::guest {

/// Takes CUPTI's name: "cuMemcpyHtoD_v2_ptds", "cudaStreamSynchronize_v3020". True for waits for a
/// stream, an event or a context; synchronous copies and fills; allocation and pinning of memory;
/// loading of code; instantiation of graphs.
bool is_blocking_call(std::string_view name) noexcept;
/// What such a call does; none: it is not such a call.
call_kind kind_of_blocking_call(std::string_view name) noexcept;

/// Notes blocking calls of the driver, which runtime calls end in. Driver calls report both their
/// entry and their end.
class blocking_calls {
 public:
  void learn(std::uint32_t driver_cbid, char const* name) noexcept {
    if (driver_cbid < kinds_.size())
      kinds_[driver_cbid] = name != nullptr ? kind_of_blocking_call(name) : call_kind::none;
  }
  bool has(std::uint32_t driver_cbid) const noexcept {
    return driver_cbid < kinds_.size() && kinds_[driver_cbid] != call_kind::none;
  }
  void record(bool on) noexcept { are_recorded_.store(on, std::memory_order_relaxed); }

  // Called on the program's thread. CUPTI keeps the entry time of a call as its correlation data;
  // 0: the entry was not seen.
  void entered(CUpti_CallbackData const& call) noexcept;
  void left(CUpti_CallbackId id, CUpti_CallbackData const& call) noexcept;

 private:
  std::array<call_kind, 1024> kinds_{};
  std::atomic<bool> are_recorded_{false};
};

}  // namespace gpuprof::guest

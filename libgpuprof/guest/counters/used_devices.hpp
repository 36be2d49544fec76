// SPDX-License-Identifier: Apache-2.0
// The GPUs on which the program launches.
#pragma once

#include "guest/cupti/api.hpp"
#include "model/ids.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace gpuprof::guest {

/// Any thread, without lock.
class used_devices {
 public:
  explicit used_devices(cupti_api const& api) noexcept : api_(api) {}

  /// Called in launch callbacks. Asks CUPTI once each time a thread changes its context.
  void note(CUcontext context) noexcept {
    static thread_local CUcontext last __attribute__((tls_model("initial-exec"))) = nullptr;
    if (context == last || context == nullptr) return;
    last = context;
    std::uint32_t device = 0;
    if (api_.cuptiGetDeviceId == nullptr ||
        api_.cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS || device >= 64)
      return;
    used_.fetch_or(std::uint64_t{1} << device, std::memory_order_relaxed);
  }

  std::vector<device_id> all() const {
    std::vector<device_id> devices;
    auto const used = used_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < 64; ++i)
      if ((used >> i & 1) != 0) devices.push_back(static_cast<device_id>(i));
    return devices;
  }

 private:
  cupti_api const& api_;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace gpuprof::guest

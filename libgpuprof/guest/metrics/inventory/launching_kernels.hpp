// SPDX-License-Identifier: Apache-2.0
// Knows which kernels of the loaded modules can launch work from the GPU: with dynamic parallelism,
// or by launching a graph. CUPTI has no record of such work.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::guest {

/// Calls take(mangled name) for each kernel of the cubin that refers to a launch function of the
/// device runtime. Nothing for an image that is no cubin, or damaged. Pure.
void find_launching_kernels(std::span<std::uint8_t const> image,
                            std::function<void(std::string_view)> const& take);

/// One per process. Any thread. The mutex is held for a look into a set.
class launching_kernels {
 public:
  /// A module has been loaded on this thread. Reads its symbols alone.
  void add_module(std::span<std::uint8_t const> image) noexcept;
  /// By its mangled name. False also for kernels of modules loaded before CUPTI was attached.
  bool has(std::string_view mangled) const noexcept;

 private:
  static constexpr std::size_t max_names = 4096;

  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;                  // protects the next
  std::set<std::string, std::less<>> names_;  // at most max_names
};

}  // namespace gpuprof::guest

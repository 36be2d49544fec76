// SPDX-License-Identifier: Apache-2.0
// Finds kernels of the loaded modules that can launch work from the GPU, by dynamic parallelism or
// by launching a graph. CUPTI has no record of such work.
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
/// device runtime. Does nothing if the image is damaged or not a cubin. Pure.
void find_launching_kernels(std::span<std::uint8_t const> image,
                            std::function<void(std::string_view)> const& take);

/// One per process. Can be used on any thread. The mutex is held only for a look into a set.
class launching_kernels {
 public:
  /// Called on the thread that has loaded a module. Reads only its symbols.
  void add_module(std::span<std::uint8_t const> image) noexcept;
  /// Looks up a mangled name. Returns false also for kernels of modules that were loaded before
  /// CUPTI was attached.
  bool has(std::string_view mangled) const noexcept;

 private:
  static constexpr std::size_t max_names = 4096;

  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;                  // protects `names_`
  std::set<std::string, std::less<>> names_;  // at most max_names entries
};

}  // namespace gpuprof::guest

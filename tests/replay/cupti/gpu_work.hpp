// SPDX-License-Identifier: Apache-2.0
// What the kernels of each device do to its counters over time. A launched kernel has its times at
// once, those to come as well.
#pragma once

#include "replay/cupti/made_up_counters.hpp"
#include "replay/driver/tool_hooks.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace gpuprof::replay {

/// Any thread.
class gpu_work {
 public:
  static gpu_work& get() noexcept;

  // From the library ----------------------------------------------------------
  /// A call that launches kernels: they are made known before it ends and run after it began.
  void call_begins(std::uint32_t correlation) noexcept;
  void call_ends(std::uint32_t correlation) noexcept;
  void note_record(activity const&) noexcept;

  // For the sampler -----------------------------------------------------------
  /// All kernels that run before this moment are known.
  std::uint64_t known_until();
  /// Kernels of the device that end after this moment are remembered until released.
  void keep_from(std::size_t device, std::uint64_t moment);
  void release(std::size_t device);
  /// Adds to `samples`, one for each `interval` from `begin` on, what kernels count in them.
  void add_to(std::span<counts> samples, std::size_t device, std::uint64_t begin,
              std::uint64_t interval);
  /// Kernels that became known after the samples they belong to were read; should be 0.
  std::uint64_t late();

 private:
  struct kernel {
    std::size_t device = 0;
    std::uint64_t start = 0, end = 0;
    counts counted{};  // what the passing of time counts is left out
  };
  struct reading_place {
    std::uint64_t keep_from = 0;
    std::uint64_t read_until = 0;
  };

  void forget_old();

  std::mutex lock_;  // protects everything
  std::map<std::uint32_t, std::uint64_t> calls_;
  std::vector<kernel> kernels_;
  std::size_t forget_at_ = 1024;
  std::map<std::size_t, reading_place> readers_;  // by device
  std::uint64_t late_ = 0;
};

}  // namespace gpuprof::replay

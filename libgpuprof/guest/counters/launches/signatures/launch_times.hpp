// SPDX-License-Identifier: Apache-2.0
// Tells how long the launches of each signature run, from kernel records that come later.
#pragma once

#include "guest/counters/launches/signatures/launch_signatures.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

namespace gpuprof::guest {

/// Remembers of which signature the latest launches were. Launching threads write, whoever reads
/// kernel records asks; without lock. What comes too late is not counted, which shifts no share
/// much.
class launch_times {
 public:
  static constexpr std::size_t capacity = 1 << 16;

  launch_times() : recent_(new std::array<entry, capacity>{}) {}

  void launched(std::uint32_t correlation, launch_signature& signature) noexcept {
    auto& slot = (*recent_)[correlation % capacity];
    slot.correlation.store(0, std::memory_order_relaxed);
    slot.signature.store(&signature, std::memory_order_release);
    slot.correlation.store(correlation, std::memory_order_release);
  }
  void ran(std::uint32_t correlation, std::uint64_t ns, bool is_part) noexcept {
    auto& slot = (*recent_)[correlation % capacity];
    if (correlation == 0 || slot.correlation.load(std::memory_order_acquire) != correlation) return;
    auto* const signature = slot.signature.load(std::memory_order_acquire);
    if (slot.correlation.load(std::memory_order_acquire) == correlation)
      signature->add_time(ns, is_part);
  }

 private:
  struct entry {
    std::atomic<std::uint32_t> correlation{0};
    std::atomic<launch_signature*> signature{nullptr};
  };
  std::unique_ptr<std::array<entry, capacity>> recent_;
};

}  // namespace gpuprof::guest

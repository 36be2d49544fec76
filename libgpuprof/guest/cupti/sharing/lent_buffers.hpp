// SPDX-License-Identifier: Apache-2.0
// Which of the buffers that CUPTI fills are another client's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gpuprof {

/// Any thread, without lock.
class lent_buffers {
 public:
  static constexpr std::size_t max_buffers = 1024;

  /// False when there is no place to note it.
  bool add(std::uint8_t* buffer) noexcept {
    for (auto& place : places_) {
      std::uint8_t* none = nullptr;
      if (place.compare_exchange_strong(none, buffer)) {
        count_.fetch_add(1);
        return true;
      }
    }
    return false;
  }
  /// Whether it was one; from now on it is none.
  bool remove(std::uint8_t* buffer) noexcept {
    if (count_.load() == 0) return false;
    for (auto& place : places_) {
      auto* expected = buffer;
      if (place.compare_exchange_strong(expected, nullptr)) {
        count_.fetch_sub(1);
        return true;
      }
    }
    return false;
  }

 private:
  std::array<std::atomic<std::uint8_t*>, max_buffers> places_{};
  std::atomic<std::size_t> count_{0};
};

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Subscribers of the program beside the one that we share with it: CUPTI 13.2 and newer keep
// several apart.
#pragma once

#include "guest/cupti/api.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuprof {

/// CUPTI 13.2 has one field more than the first version of this struct: allowMultipleSubscribers.
inline bool asks_to_be_one_of_several(CUpti_SubscriberParams const* named) noexcept {
  constexpr std::size_t place =
      offsetof(CUpti_SubscriberParams, oldSubscriberSize) + sizeof(std::size_t);
  if (named == nullptr || named->structSize <= place) return false;
  std::uint8_t wanted = 0;
  std::memcpy(&wanted, reinterpret_cast<std::uint8_t const*>(named) + place, sizeof wanted);
  return wanted == 1;
}

/// Their handles. Any thread, without lock.
class own_subscribers {
 public:
  /// Full: the handle is not known, and its calls are answered as those of a stranger.
  void add(CUpti_SubscriberHandle handle) noexcept { replace(nullptr, handle); }
  void remove(CUpti_SubscriberHandle handle) noexcept { replace(handle, nullptr); }
  bool has(CUpti_SubscriberHandle handle) const noexcept {
    return handle != nullptr && std::any_of(all_.begin(), all_.end(), [handle](auto const& one) {
             return one.load(std::memory_order_acquire) == handle;
           });
  }
  void forget() noexcept {
    for (auto& one : all_) one.store(nullptr);
  }

 private:
  void replace(CUpti_SubscriberHandle old, CUpti_SubscriberHandle fresh) noexcept {
    for (auto& one : all_) {
      auto expected = old;
      if (one.compare_exchange_strong(expected, fresh)) return;
    }
  }
  std::array<std::atomic<CUpti_SubscriberHandle>, 16> all_{};
};

}  // namespace gpuprof

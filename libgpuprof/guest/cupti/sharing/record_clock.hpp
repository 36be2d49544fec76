// SPDX-License-Identifier: Apache-2.0
// A clock that another client has registered for its records.
#pragma once

#include "guest/cupti/api.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gpuprof::guest {

/// One moment on both clocks.
struct clock_pair {
  std::uint64_t real = 0;  // CLOCK_REALTIME, ns
  std::uint64_t theirs = 0;
};

/// Times of CUPTI's usual clock as times of theirs: straight lines between moments that are known
/// on both. Pure.
class clock_map {
 public:
  /// `pairs` in the order of time; none: their clock is CUPTI's.
  explicit clock_map(std::vector<clock_pair> pairs = {}) : pairs_(std::move(pairs)) {}
  bool is_identity() const noexcept { return pairs_.empty(); }
  /// 0, which stands for "not known", stays 0.
  std::uint64_t theirs(std::uint64_t real) const noexcept;

 private:
  std::vector<clock_pair> pairs_;
};

/// The library that an address lies in. It is compared, not held: libraries of the program are the
/// program's to close.
struct code_holder {
  std::uintptr_t base = 0;
  std::size_t name = 0;  // a hash
  friend bool operator==(code_holder const&, code_holder const&) = default;
};
/// Base 0: none. Waits for no library that is being opened or closed.
code_holder holder_of(void const* address) noexcept;

/// CUPTI takes one clock, and one that comes while records are on does not hold for those of
/// kernels (seen on an H200, CUPTI 13.0). So it keeps its own, and the client's records are
/// rewritten. Any thread.
class record_clock {
 public:
  void is_now(CUpti_TimestampCallbackFunc clock) noexcept;
  bool is_theirs() const noexcept { return theirs_.load(std::memory_order_acquire) != nullptr; }
  /// As of this moment. A clock whose library has been closed is forgotten.
  clock_map map();

 private:
  static constexpr std::size_t max_pairs = 128;
  static constexpr std::uint64_t apart_ns = 20'000'000;
  bool is_still_there(CUpti_TimestampCallbackFunc clock) noexcept;
  static clock_pair read(CUpti_TimestampCallbackFunc clock) noexcept;

  std::atomic<CUpti_TimestampCallbackFunc> theirs_{nullptr};
  std::mutex mutex_;  // protects all below; nobody else's code is called while it is held
  std::vector<clock_pair> pairs_;
  code_holder holder_;
};

}  // namespace gpuprof::guest

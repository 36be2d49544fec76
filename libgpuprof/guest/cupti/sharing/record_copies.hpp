// SPDX-License-Identifier: Apache-2.0
// Records that are handed to another client: copies in its buffers, with times of the clock that it
// has registered.
#pragma once

#include "guest/cupti/api.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace gpuprof::guest {

/// What a client has registered for its records.
struct buffer_functions {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  friend bool operator==(buffer_functions const&, buffer_functions const&) = default;
};

/// A buffer of a client that is being filled.
struct started_buffer {
  buffer_functions owner;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0, used = 0, records = 0, max_records = 0;
  CUcontext context = nullptr;
  bool has_room(std::size_t more) const noexcept {
    return used + more <= size && (max_records == 0 || records < max_records);
  }
};

/// Fills a buffer of the client before it takes the next, as CUPTI does. Any thread; nothing is
/// held while the client's functions are called.
class record_copies {
 public:
  /// Copies for as long as it lives, alone with its buffer.
  class writer {
   public:
    writer(record_copies& all, buffer_functions client, CUcontext context)
        : all_(all), client_(client), context_(context), buffer_(all.take_started(client)) {}
    ~writer() { all_.keep(std::move(buffer_)); }
    writer(writer const&) = delete;
    writer& operator=(writer const&) = delete;
    /// One whole record. False: the client gives no buffer that has room for it.
    bool add(std::span<std::uint8_t const> record) noexcept;

   private:
    record_copies& all_;
    buffer_functions const client_;
    CUcontext const context_;
    std::unique_ptr<started_buffer> buffer_;
  };

  /// Has a buffer of the client at hand for what may come.
  void prepare(buffer_functions const& client);
  /// A buffer that CUPTI has filled, where the client's functions must not be called.
  void put_off(started_buffer const& buffer) noexcept;
  /// Hands over what is full; `partly`: also what is not; `empty`: also buffers with nothing in
  /// them.
  void deliver(bool partly, bool empty = false);
  /// Another thread is handing over what it has taken from here.
  bool is_delivered_elsewhere() const noexcept;

 private:
  std::unique_ptr<started_buffer> take_started(buffer_functions const& client);
  void keep(std::unique_ptr<started_buffer> buffer) noexcept;

  std::mutex mutex_;  // protects both below
  std::vector<std::unique_ptr<started_buffer>> started_, full_;
  std::atomic<int> deliveries_{0};  // under way; one begins while the lock is held
};

// A clock that another client has registered for its records.

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

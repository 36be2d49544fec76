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

/// The functions that a client has registered for its records.
struct buffer_functions {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  friend bool operator==(buffer_functions const&, buffer_functions const&) = default;
};

/// A client's buffer that is being filled.
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
  /// Copies records while it lives; no other thread uses its buffer.
  class writer {
   public:
    writer(record_copies& all, buffer_functions client, CUcontext context)
        : all_(all), client_(client), context_(context), buffer_(all.take_started(client)) {}
    ~writer() { all_.keep(std::move(buffer_)); }
    writer(writer const&) = delete;
    writer& operator=(writer const&) = delete;
    /// Adds one whole record. Returns false if the client gives no buffer with room for it.
    bool add(std::span<std::uint8_t const> record) noexcept;

   private:
    record_copies& all_;
    buffer_functions const client_;
    CUcontext const context_;
    std::unique_ptr<started_buffer> buffer_;
  };

  /// Takes a buffer of the client in advance.
  void prepare(buffer_functions const& client);
  /// Keeps a buffer that CUPTI has filled, for when the client's functions may be called.
  void put_off(started_buffer const& buffer) noexcept;
  /// Hands over full buffers; `partly`: partly filled ones too; `empty`: empty ones too.
  void deliver(bool partly, bool empty = false);
  /// True if another thread is delivering buffers that it took from here.
  bool is_delivered_elsewhere() const noexcept;

 private:
  std::unique_ptr<started_buffer> take_started(buffer_functions const& client);
  void keep(std::unique_ptr<started_buffer> buffer) noexcept;

  std::mutex mutex_;  // protects both members below
  std::vector<std::unique_ptr<started_buffer>> started_, full_;
  std::atomic<int> deliveries_{0};  // running deliveries; begun with the lock held
};

// A clock that another client has registered for its records.

/// One moment on both clocks.
struct clock_pair {
  std::uint64_t real = 0;  // CLOCK_REALTIME, ns
  std::uint64_t theirs = 0;
};

/// Maps times of CUPTI's usual clock to times of the client's clock, by linear interpolation
/// between moments that are known on both. Pure.
class clock_map {
 public:
  /// `pairs`: sorted by time; empty: the client uses CUPTI's clock.
  explicit clock_map(std::vector<clock_pair> pairs = {}) : pairs_(std::move(pairs)) {}
  bool is_identity() const noexcept { return pairs_.empty(); }
  /// 0 means "unknown" and stays 0.
  std::uint64_t theirs(std::uint64_t real) const noexcept;

 private:
  std::vector<clock_pair> pairs_;
};

/// The library that contains an address. It is only compared, not kept open, because the program
/// may close its libraries.
struct code_holder {
  std::uintptr_t base = 0;
  std::size_t name = 0;  // a hash
  friend bool operator==(code_holder const&, code_holder const&) = default;
};
/// Base 0: no library. Does not wait for libraries that are being opened or closed.
code_holder holder_of(void const* address) noexcept;

/// CUPTI accepts one clock, and a clock that is set while records are on does not apply to kernel
/// records (seen on an H200, CUPTI 13.0). So CUPTI keeps its own clock, and the client's records
/// are rewritten. Any thread.
class record_clock {
 public:
  void is_now(CUpti_TimestampCallbackFunc clock) noexcept;
  bool is_theirs() const noexcept { return theirs_.load(std::memory_order_acquire) != nullptr; }
  /// Returns the map as of now. If the clock's library has been closed, the clock is forgotten.
  clock_map map();

 private:
  static constexpr std::size_t max_pairs = 128;
  static constexpr std::uint64_t apart_ns = 20'000'000;
  bool is_still_there(CUpti_TimestampCallbackFunc clock) noexcept;
  static clock_pair read(CUpti_TimestampCallbackFunc clock) noexcept;

  std::atomic<CUpti_TimestampCallbackFunc> theirs_{nullptr};
  std::mutex mutex_;  // protects all below; not held while other code is called
  std::vector<clock_pair> pairs_;
  code_holder holder_;
};

}  // namespace gpuprof::guest

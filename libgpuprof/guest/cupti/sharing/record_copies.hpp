// SPDX-License-Identifier: Apache-2.0
// Copies of records, in buffers of a client.
#pragma once

#include "guest/cupti/api.hpp"

#include <atomic>
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

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// The streams of a context that may have work, whether all of it has ended, and which of them are
// being captured into graphs.
#pragma once

#include "guest/driver/cuda_driver.hpp"

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gpuprof::guest {

/// Streams become known by the calls that put work on them. Asking them waits for nothing.
class context_streams {
 public:
  /// More at once cannot be followed: then nothing is known until the program waits for the
  /// context.
  static constexpr std::size_t max_streams = 512;

  explicit context_streams(cuda_driver const& driver) noexcept : driver_(driver) {}

  /// Any thread, at the end of a call that the driver has accepted: another handle may be no
  /// stream.
  void used(CUstream stream) noexcept;
  /// Work was put on a stream that is not known.
  void used_unknown() noexcept { is_known_.store(false); }
  /// Before a stream goes.
  void destroyed(CUstream stream) noexcept;
  /// Calls were not heard of for a while: streams may have been used, made and destroyed.
  void forget() noexcept;
  /// The context has just been made, or the program has waited for all of it.
  void all_known() noexcept { is_known_.store(true); }
  /// What the context has to do can be told from its streams.
  bool is_known() const noexcept { return is_known_.load(); }

  /// The keeper of the gate, while it is held: all work has ended, but for that of calls that have
  /// gone on by themselves meanwhile.
  bool are_idle() noexcept;
  /// Once it is certain that there were none: streams that are idle need not be asked any more.
  void forget_idle() noexcept;
  /// Some stream works although nothing was put on it for so long. The keeper.
  bool works_long(std::uint64_t now_ns, std::uint64_t than_ns) noexcept;
  /// The stream is not being captured, as far as the driver can tell. False also for one that no
  /// call of the program has used yet. The keeper.
  bool may_wait_for(CUstream stream) noexcept;

 private:
  struct used_stream {
    CUstream stream;
    std::uint64_t last_used_ns;
    bool may_have_work;
  };
  bool is_known_stream(CUstream stream) const noexcept;
  bool is_busy(CUstream stream) const noexcept;

  cuda_driver const& driver_;
  std::atomic<bool> is_known_{false};
  std::atomic<std::uint32_t> epoch_{1};  // changes when streams are forgotten
  // Protects the next one. The driver is asked while it is held, so that no stream is destroyed
  // meanwhile. Not a spin: a thread with real-time priority would keep the holder from running.
  std::mutex mutex_;
  std::vector<used_stream> streams_;
};

// Which streams are being captured into graphs, as far as it was heard of.

/// Any thread. While a stream is being captured nothing may wait for the GPU.
class stream_captures {
 public:
  void begins(CUstream stream) noexcept {
    std::lock_guard const lock(mutex_);
    try {
      if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end())
        streams_.push_back(stream);
    } catch (...) {
      lost_count_ = true;
    }
    note();
  }
  /// It ended, did not begin after all, or its stream was destroyed. Others go on.
  void ends(CUstream stream) noexcept {
    std::lock_guard const lock(mutex_);
    std::erase(streams_, stream);
    note();
  }
  void forget() noexcept {
    std::lock_guard const lock(mutex_);
    streams_.clear();
    lost_count_ = false;
    note();
  }
  bool any() const noexcept { return any_.load(); }

 private:
  void note() noexcept { any_.store(lost_count_ || !streams_.empty()); }

  std::atomic<bool> any_{false};
  std::mutex mutex_;  // protects the rest; held for moments
  std::vector<CUstream> streams_;
  bool lost_count_ = false;  // for want of memory
};

}  // namespace gpuprof::guest

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

/// Streams become known by the calls that put work on them. Queries do not wait.
class context_streams {
 public:
  /// Only this many streams can be tracked at once. With more, the state is unknown until the
  /// program waits for the context.
  static constexpr std::size_t max_streams = 512;

  explicit context_streams(cuda_driver const& driver) noexcept : driver_(driver) {}

  /// Any thread, at the end of a call that the driver has accepted: a handle of a refused call may
  /// not be a stream.
  void used(CUstream stream) noexcept;
  /// Call it when work was put on an unknown stream.
  void used_unknown() noexcept { is_known_.store(false); }
  /// Call it before a stream is destroyed.
  void destroyed(CUstream stream) noexcept;
  /// Callbacks were off for a while: streams may have been used, created and destroyed.
  void forget() noexcept;
  /// Call it when the context has just been made, or the program has waited for all its work.
  void all_known() noexcept { is_known_.store(true); }
  /// True if the streams tell all work of the context.
  bool is_known() const noexcept { return is_known_.load(); }

  /// Called by the keeper while the gate is held. True if all work has ended, except work of calls
  /// that have gone on by themselves meanwhile.
  bool are_idle() noexcept;
  /// Call it when it is certain that there were no such calls: idle streams need not be queried any
  /// more.
  void forget_idle() noexcept;
  /// Keeper only. True if a stream is busy although nothing was put on it for `than_ns`.
  bool works_long(std::uint64_t now_ns, std::uint64_t than_ns) noexcept;
  /// Keeper only. True if the stream is not being captured, as far as the driver can tell. Also
  /// false for a stream that no call of the program has used yet.
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
  // Protects streams_. It is held while the driver is called, so that no stream is destroyed
  // meanwhile. It is not a spin lock: a waiting thread with real-time priority would keep the
  // holder from running.
  std::mutex mutex_;
  std::vector<used_stream> streams_;
};

// Tracks which streams are being captured into graphs, from the calls that were seen.

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
  /// The capture ended, failed to begin, or its stream was destroyed. Captures of other streams
  /// continue.
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
  std::mutex mutex_;  // protects the rest; held briefly
  std::vector<CUstream> streams_;
  bool lost_count_ = false;  // for want of memory
};

}  // namespace gpuprof::guest

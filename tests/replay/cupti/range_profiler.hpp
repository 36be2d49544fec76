// SPDX-License-Identifier: Apache-2.0
// The replayed GPU's range profiler: what may be called when, and what each range has counted.
#pragma once

#include "replay/cupti/counter_images.hpp"
#include "replay/cupti/record_buffers.hpp"
#include "replay/driver/tool_hooks.hpp"

#include <cupti_range_profiler.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gpuprof::replay {

inline constexpr std::uint8_t availability_image[16] = {'R', 'P', 'L', 'A', 'V', 'A', 'I', 'L'};

/// A session of one context: enabled, set up, started, with a range open.
class range_session {
 public:
  range_session(CUcontext context) : context_(context) {}
  CUcontext context() const noexcept { return context_; }

  CUptiResult set_up(CUpti_RangeProfiler_SetConfig_Params const&);
  CUptiResult start();
  void stop(CUpti_RangeProfiler_Stop_Params&);
  CUptiResult push(char const* name);
  void pop();
  std::size_t decode();  // ranges that had no room

  bool is_started() const noexcept { return started_; }
  bool was_started() const noexcept { return !first_config_.empty(); }
  /// Another thread, under the lock of all sessions.
  /// True: it is the first in the range that is open.
  bool note(kernel_run const& kernel, std::uint64_t ends_at);
  /// The same lock. A range is open in which kernels are rewritten.
  bool rewrites_now() const noexcept;

  std::atomic_flag in_use = ATOMIC_FLAG_INIT;  // one thread at a time
  bool gone = false;                           // CUPTI has given up; under the lock of all

 private:
  struct range {
    std::string name;
    counts counted;  // since the last decode()
    std::size_t last_pass = 0;
  };

  CUcontext const context_;
  pass_schedule schedule_;
  std::vector<std::uint8_t> first_config_;  // the real one keeps that of its first start
  std::vector<std::uint8_t> config_;
  std::span<std::uint8_t> image_;
  std::size_t max_in_pass_ = 0, in_this_pass_ = 0, dropped_ = 0;
  std::size_t pass_ = 0;
  bool set_up_ = false;
  std::atomic<bool> started_{false};
  std::vector<range> ranges_;
  std::optional<std::string> open_;
  std::vector<kernel_run> in_open_;  // with the next under the lock of all sessions
  std::uint64_t open_busy_until_ = 0;
};

/// All sessions of the process; one may be started on a device.
class range_profiler {
 public:
  static range_profiler& get() noexcept;

  CUptiResult initialize();
  void deinitialize();
  bool is_initialized() const noexcept { return initialized_; }

  CUptiResult enable(CUcontext, CUpti_RangeProfiler_Object** object);
  /// Ends the process when the object was disabled or its context is gone, or when another thread
  /// uses it right now; null when it never was one, or CUPTI has given up.
  range_session* use(CUpti_RangeProfiler_Object*, char const* function);
  void disable(range_session&);
  CUptiResult start(range_session&);

  // From the library --------------------------------------------------------
  /// True: it is the first kernel of a range that is open.
  bool note_record(activity const&, bool is_recorded) noexcept;
  /// A launch is about to return: with its kernel rewritten it waits for the whole context.
  void launch_returns(std::uint32_t context);
  /// This thread captures a stream, and its tool has heard of it.
  void capture_begins() noexcept;
  void capture_ends() noexcept;
  bool is_capturing() const noexcept { return captures_ != 0; }
  void context_destroyed(CUcontext) noexcept;
  void finalized();
  void gave_up();
  std::uint64_t gpu_busy_until() const noexcept { return gpu_busy_until_; }

  std::mutex lock;  // protects what the sessions share with the threads that launch

 private:
  std::atomic<bool> initialized_{false};
  std::set<range_session*> sessions_, disabled_;  // never freed: a late use shall be seen
  std::set<CUcontext> destroyed_;
  std::atomic<std::uint64_t> gpu_busy_until_{0};
  std::atomic<unsigned> captures_{0};  // of streams, under way
};

/// What happened and when, a line each, in the file REPLAY_COUNTER_LOG; `format` has no line end.
void log_counters(char const* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace gpuprof::replay

// SPDX-License-Identifier: Apache-2.0
// Starts and ends captures as the plan of the process wants it.
#pragma once

#include "guest/options/capture_plan.hpp"
#include "guest/options/settings.hpp"
#include "guest/recording/drain.hpp"
#include "guest/session/tracing_switch.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace gpuprof::guest {

/// Can be used on any thread. One per process, never destroyed. Everything that it is made from
/// must live as long.
class capture_switch {
 public:
  capture_switch(settings const& options, drain& recording, tracing_switch& tracing)
      : settings_(options), drain_(recording), tracing_(tracing), plan_(options) {}

  /// Passes an event to the plan and then follows the plan.
  void tell(std::function<void(capture_plan&)> const& event) noexcept;
  /// Does the same. The caller allows exceptions and has prepared its thread.
  void change(std::function<void(capture_plan&)> const& event);
  /// Returns what `ask` returns for the plan. The plan does not change during the call.
  template <class Ask>
  auto ask(Ask&& ask) {
    std::lock_guard const lock(plan_mutex_);
    return ask(std::as_const(plan_));
  }
  /// True if the plan has changed and no thread has followed it yet.
  bool is_behind() const noexcept { return look_again_.load(); }
  /// Makes true what the plan wants, unless another thread does it.
  void follow_plan() noexcept;

  /// True if a capture is running.
  bool capturing() const noexcept { return open_window_.load() != 0; }
  /// True if a capture is running or has run in this process.
  bool has_captured() const noexcept { return captured_.load(); }

  /// Leaves CUPTI if that is due. Called at the end of a driver call.
  void leave_cupti() noexcept;
  /// The process is exiting: closes the window. Follows the plan no more.
  void end_with_process();

  // Called by the drain thread.
  /// True if all records of the last capture have arrived, or no more of them will.
  bool at_rest() const noexcept;
  /// Call while a capture runs.
  void start_what_waited_for_cuda();
  /// After a capture: when its last records have arrived, switches CUPTI's tracing off. If no other
  /// capture can start by itself, CUPTI is left at the end of the program's next CUDA call. Returns
  /// true if nothing of this is left to do until the program does something.
  bool rest_if_nothing_runs();

 private:
  bool begin_to_act() noexcept;
  void take_one_step(bool& more);
  void open_window(std::uint32_t index, std::string trigger);
  void close_window();

  settings const& settings_;
  drain& drain_;
  tracing_switch& tracing_;

  std::mutex plan_mutex_;  // protects plan_; held only for its computations
  capture_plan plan_;

  // Only the thread that holds `acting_` opens windows and switches tracing. Other threads set
  // `look_again_` and continue.
  std::atomic_flag acting_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> look_again_{false};
  std::uint64_t idle_since_ = 0;  // protected by `acting_`

  bool asked_to_end_ = false;                  // used by the drain thread only
  std::atomic<std::uint32_t> open_window_{0};  // index of the window being recorded; 0: none
  std::atomic<bool> captured_{false};
};

}  // namespace gpuprof::guest

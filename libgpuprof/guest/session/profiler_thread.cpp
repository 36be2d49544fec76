// SPDX-License-Identifier: Apache-2.0
// The part of process_profiler that runs on the drain thread: rounds of the drain, and the work
// after a capture has ended.
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/quiet_thread.hpp"
#include "base/time.hpp"
#include "guest/session/process_profiler.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t linger_ns = 500'000'000;  // how long tracing stays on between captures
constexpr std::uint64_t round_ns = 10'000'000;
// If nothing runs and no work is left, another thread or a deadline of the plan wakes the drain
// thread. It also wakes by itself, at increasing intervals.
constexpr std::uint64_t first_idle_ns = 1'000'000'000, max_idle_ns = 64'000'000'000;
constexpr std::uint64_t max_unrest_ns = 5'000'000'000;

}  // namespace

void process_profiler::start_drain_thread() {
  if (thread_started_.exchange(true)) return;
  pthread_t thread;
  auto const run = [](void* self) -> void* {
    static_cast<process_profiler*>(self)->drain_main();
    return nullptr;
  };
  if (auto const code = start_quiet_thread(thread, "gpuprof", 0, run, this); code != 0) {
    thread_started_.store(false);  // so that the end of the process does not wait for the thread
    thread_error_.store(code);
    log_error(line_without_thread(code));
    return;
  }
  pthread_detach(thread);
}

void process_profiler::drain_main() noexcept {
  auto const longest = std::uint64_t{std::max(settings_.flush_interval_ms, 1u)} * 1'000'000;
  // Short at first, so that a program that crashes early also leaves a capture.
  auto flush_every = std::min(longest, 2 * round_ns);
  auto next_flush = monotonic_ns() + flush_every;
  auto settled = false;
  std::uint64_t idle_ns = first_idle_ns;
  for (;;) {
    try {
      auto const open = open_window_.load() != 0;
      auto const settling = !open && !drain_.at_rest(patience_ns());
      auto const busy = open || settling;
      auto const resting = std::min(flush_every, 10 * round_ns);
      auto const wait_ns = busy ? round_ns : settled ? until_deadline(idle_ns) : resting;
      auto const woken = wait_for_wake(std::chrono::nanoseconds(wait_ns));
      idle_ns = woken || !settled ? first_idle_ns : std::min(2 * idle_ns, max_idle_ns);
      if (drain_.serve_requests()) {
        // The process is exiting. If the thread ended now, it would run the thread destructors of
        // all libraries, including CUPTI's, in parallel with the exit handlers of the main thread.
        // So it sleeps.
        for (;;) pause();
      }
      auto const moment = monotonic_ns();
      bool due = false;
      {
        std::lock_guard const lock(plan_mutex_);
        auto const deadline = plan_.next_deadline();
        due = deadline != 0 && moment >= deadline;
      }
      if (due) tick(moment);
      if (settling)
        next_flush =
            std::min(next_flush, moment + 2 * round_ns);  // the program waits for full speed
      auto const flush = busy && moment >= next_flush;
      if (flush) {
        flush_every = std::min(longest, 2 * flush_every);
        next_flush = moment + flush_every;
      }
      drain_.round(flush);
      end_without_file();
      if (look_again_.load()) follow_plan();  // set by a thread that could not switch at once
      if (open_window_.load() != 0) start_what_waited_for_cuda();
      settled = rest_if_nothing_runs();
    } catch (std::exception const& e) {
      settled = false;
      drain_.lose(e.what());
    } catch (...) {
      settled = false;
      drain_.lose("for a reason unknown");
    }
  }
}

/// Ends tracing if its results are not used, because it costs the program time.
void process_profiler::end_without_file() {
  auto const file = drain_.state_of_file();
  if (file == file_state::usable) return;
  auto const is_of_use = [&] {
    return file == file_state::failed && (is_watched_.load() || settings_.stats);
  };
  if (is_of_use()) return;
  {
    std::lock_guard const lock(plan_mutex_);
    if (plan_.gave_up()) return;
  }
  tell_plan([&](capture_plan& plan) {
    // checked again: the program may have begun to read live data
    if (!is_of_use()) plan.give_up();
  });
}

/// Returns the time until the plan's next deadline, at most `max_ns`.
std::uint64_t process_profiler::until_deadline(std::uint64_t max_ns) {
  std::lock_guard const lock(plan_mutex_);
  auto const deadline = plan_.next_deadline(), moment = monotonic_ns();
  if (deadline == 0) return max_ns;
  return deadline <= moment ? ns_per_ms : std::min(max_ns, deadline - moment);
}

// Called within milliseconds after cuInit returns.
void process_profiler::start_what_waited_for_cuda() {
  if (!settings_.trace.um) return;  // nothing else waits for CUDA
  if (acting_.test_and_set(std::memory_order_acquire)) return;
  std::vector<std::string> warnings;
  if (tracing_ && tracer_->waits_for_cuda()) tracer_->start_the_rest(warnings);
  acting_.clear(std::memory_order_release);
  for (auto const& warning : warnings) log_warning(warning);
}

/// Exit handlers run in reverse order of registration. A handler registered long after CUDA's start
/// runs before the driver is torn down. It prevents that a thread disables CUPTI's records during
/// that. It is registered again from time to time, because the driver may register its own later.
void process_profiler::switch_nothing_after_exit() {
  if (!std::has_single_bit(++times_switched_)) return;
  std::atexit([] {
    auto* const profiler = existing();
    if (profiler != nullptr && getpid() == profiler->owner_ && !is_forked_child())
      profiler->callbacks_.switches().close();
  });
}

// After a capture: when its last records have arrived, switches CUPTI's tracing off. If no other
// capture can start by itself, CUPTI is left at the end of the program's next CUDA call. Returns
// true if nothing of this is left to do until the program does something.
bool process_profiler::rest_if_nothing_runs() {
  if (open_window_.load() != 0 || !drain_.at_rest(patience_ns())) return false;
  bool armed = false, warming_up = false, wanted = false, shutdown = false;
  {
    std::lock_guard const lock(plan_mutex_);
    armed = plan_.armed();
    warming_up = plan_.warming_up();
    wanted = plan_.wanted();
    shutdown = plan_.wants_shutdown();
  }
  if (wanted || warming_up) return false;
  if (acting_.test_and_set(std::memory_order_acquire)) return false;
  if (given_up_.load()) tracing_ = leaving_ = false;
  if (tracing_ && open_window_.load() == 0) {
    if (idle_since_ == 0) idle_since_ = monotonic_ns();
    auto const idle = monotonic_ns() - idle_since_;
    // While a launch is being read, its end must be reported by CUPTI.
    auto const resting = counters_ == nullptr || counters_->is_idle() || idle > max_unrest_ns;
    if ((!armed || idle > linger_ns) && resting) {
      drain_.last_round();
      switch_nothing_after_exit();
      if (tracer_->stop()) {
        drain_.last_round();
        tracing_ = false;
      }
    }
  }
  auto const stuck = counters_ != nullptr && counters_->is_stuck();
  if (!tracing_ && !armed && tracer_ != nullptr && tracer_->attached() && !leaving_ && !stuck) {
    // With active counters or an open range, CUPTI must not be left. This is tried again later.
    auto const given_back =
        counters_ == nullptr ||
        (counters_->finish(counter_worker::ending::leaving, settings_.flush_timeout_ms) &&
         !counters_->is_stuck());
    if (given_back) {
      leaving_ = true;
      callbacks_.leave_at_next_call(true);
      tracer_->listen_to_any_call();
    }
  }
  auto const is_left = armed || tracer_ == nullptr || !tracer_->attached() || leaving_ || stuck;
  auto const settled = !tracing_ && is_left && !look_again_.load();
  acting_.clear(std::memory_order_release);
  if (shutdown && !std::exchange(asked_to_end_, true)) {
    drain_.last_round();  // a SIGTERM may end the process at once, so the file is written first
    kill(getpid(), SIGTERM);
  }
  return settled;
}

}  // namespace gpuprof::guest

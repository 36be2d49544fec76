// SPDX-License-Identifier: Apache-2.0
// What process_profiler does on a thread of its own: rounds of the drain, and what is to be done
// when a capture has ended.
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

constexpr std::uint64_t linger_ns = 500'000'000;  // tracing stays on this long between two captures
constexpr std::uint64_t round_ns = 10'000'000;
// While nothing runs and nothing is left to do somebody wakes the thread, or a deadline of the plan
// does. It looks for itself all the same, less and less often.
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
    thread_started_.store(false);  // so that the end of the process waits for nobody
    thread_error_.store(code);
    log_error(line_without_thread(code));
    return;
  }
  pthread_detach(thread);
}

void process_profiler::drain_main() noexcept {
  auto const longest = std::uint64_t{std::max(settings_.flush_interval_ms, 1u)} * 1'000'000;
  // Short at first: a program that crashes early leaves something behind too.
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
        // The process is going down. A thread that ended now would run the thread destructors of
        // every library in it, CUPTI's too, beside the exit handlers of the main thread: it sleeps
        // instead.
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
      if (look_again_.load()) follow_plan();  // left by somebody who could not act at once
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

/// Tracing costs the program time: it ends where nothing takes what it yields.
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
    if (!is_of_use()) plan.give_up();  // asked again: the program may have just begun to watch
  });
}

/// No longer than until the plan wants something to happen.
std::uint64_t process_profiler::until_deadline(std::uint64_t max_ns) {
  std::lock_guard const lock(plan_mutex_);
  auto const deadline = plan_.next_deadline(), moment = monotonic_ns();
  if (deadline == 0) return max_ns;
  return deadline <= moment ? ns_per_ms : std::min(max_ns, deadline - moment);
}

// Within milliseconds of cuInit's return.
void process_profiler::start_what_waited_for_cuda() {
  if (!settings_.trace.um) return;  // nothing else waits
  if (acting_.test_and_set(std::memory_order_acquire)) return;
  std::vector<std::string> warnings;
  if (tracing_ && tracer_->waits_for_cuda()) tracer_->start_the_rest(warnings);
  acting_.clear(std::memory_order_release);
  for (auto const& warning : warnings) log_warning(warning);
}

/// Exit handlers run last one first: one that is made when CUDA has long begun runs before the
/// driver is torn down, which must not happen while a thread switches CUPTI's records off. Made
/// anew now and then, since the driver's own may come later.
void process_profiler::switch_nothing_after_exit() {
  if (!std::has_single_bit(++times_switched_)) return;
  std::atexit([] {
    auto* const profiler = existing();
    if (profiler != nullptr && getpid() == profiler->owner_ && !is_forked_child())
      profiler->callbacks_.switches().close();
  });
}

// After a capture: when its last records are in, CUPTI's tracing is switched off, and when no other
// capture can start by itself, CUPTI is left at the end of the program's next CUDA call. True when
// nothing of this is left to do until the program does something.
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
    // While a launch is being read its end must be heard of.
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
    // With counters on, or a range open, CUPTI must not be left: tried again at the next rest.
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
    drain_.last_round();  // a SIGTERM may end the process at once: the file comes first
    kill(getpid(), SIGTERM);
  }
  return settled;
}

}  // namespace gpuprof::guest

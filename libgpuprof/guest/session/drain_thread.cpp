// SPDX-License-Identifier: Apache-2.0
#include "guest/session/drain_thread.hpp"

#include "base/log.hpp"
#include "base/quiet_thread.hpp"
#include "base/time.hpp"
#include "guest/session/api_outcome.hpp"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t round_ns = 10'000'000;
// If nothing runs and no work is left, another thread or a deadline of the plan wakes the drain
// thread. It also wakes by itself, at increasing intervals.
constexpr std::uint64_t first_idle_ns = 1'000'000'000, max_idle_ns = 64'000'000'000;

}  // namespace

void drain_thread::start() {
  if (started_.exchange(true)) return;
  pthread_t thread;
  auto const run = [](void* self) -> void* {
    static_cast<drain_thread*>(self)->main();
    return nullptr;
  };
  if (auto const code = start_quiet_thread(thread, "gpuprof", 0, run, this); code != 0) {
    started_.store(false);  // so that the end of the process does not wait for the thread
    error_.store(code);
    log_error(line_without_thread(code));
    return;
  }
  pthread_detach(thread);
}

void drain_thread::main() noexcept {
  auto const longest = std::uint64_t{std::max(settings_.flush_interval_ms, 1u)} * 1'000'000;
  // Short at first, so that a program that crashes early also leaves a capture.
  auto flush_every = std::min(longest, 2 * round_ns);
  auto next_flush = monotonic_ns() + flush_every;
  auto settled = false;
  std::uint64_t idle_ns = first_idle_ns;
  for (;;) {
    try {
      auto const open = switch_.capturing();
      auto const settling = !open && !switch_.at_rest();
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
      auto const deadline = next_deadline();
      if (deadline != 0 && moment >= deadline)
        switch_.tell([moment](capture_plan& plan) { plan.tick(moment); });
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
      if (switch_.is_behind())
        switch_.follow_plan();  // set by a thread that could not switch at once
      if (switch_.capturing()) switch_.start_what_waited_for_cuda();
      settled = switch_.rest_if_nothing_runs();
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
void drain_thread::end_without_file() {
  auto const file = drain_.state_of_file();
  if (file == file_state::usable) return;
  auto const is_of_use = [&] {
    return file == file_state::failed && (is_watched_.load() || settings_.stats);
  };
  if (is_of_use()) return;
  if (switch_.ask([](capture_plan const& plan) { return plan.gave_up(); })) return;
  switch_.tell([&](capture_plan& plan) {
    // checked again: the program may have begun to read live data
    if (!is_of_use()) plan.give_up();
  });
}

std::uint64_t drain_thread::next_deadline() {
  return switch_.ask([](capture_plan const& plan) { return plan.next_deadline(); });
}

/// Returns the time until the plan's next deadline, at most `max_ns`.
std::uint64_t drain_thread::until_deadline(std::uint64_t max_ns) {
  auto const deadline = next_deadline(), moment = monotonic_ns();
  if (deadline == 0) return max_ns;
  return deadline <= moment ? ns_per_ms : std::min(max_ns, deadline - moment);
}

}  // namespace gpuprof::guest

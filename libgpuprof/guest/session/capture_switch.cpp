// SPDX-License-Identifier: Apache-2.0
#include "guest/session/capture_switch.hpp"

#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "base/time.hpp"

#include <chrono>
#include <signal.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t linger_ns = 500'000'000;  // how long tracing stays on between captures
constexpr std::uint64_t max_unrest_ns = 5'000'000'000;

}  // namespace

void capture_switch::change(std::function<void(capture_plan&)> const& event) {
  auto has_new_deadline = false;
  {
    std::lock_guard const lock(plan_mutex_);
    auto const deadline = plan_.next_deadline();
    event(plan_);
    has_new_deadline = plan_.next_deadline() != deadline;
  }
  follow_plan();
  if (has_new_deadline) wake_drain();  // the drain thread keeps the deadline
}

void capture_switch::tell(std::function<void(capture_plan&)> const& event) noexcept {
  if (is_forked_child()) return;
  no_cancellation const here;
  whole_environment const exact;
  try {
    change(event);
  } catch (std::exception const& e) {
    log_error("profiling stopped for lack of resources: ", e.what(),
              ". The program is not affected.");
  } catch (...) {
  }
}

// Waits up to 100 ms if another thread is switching, because a capture that starts here should
// contain what follows. Returns false if that thread has already made the switch, or if it is left
// to the drain thread.
bool capture_switch::begin_to_act() noexcept {
  for (int i = 0; i < 200 && look_again_.load(std::memory_order_acquire); ++i) {
    if (!acting_.test_and_set(std::memory_order_acquire)) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  return false;
}

void capture_switch::follow_plan() noexcept {
  look_again_.store(true, std::memory_order_release);
  while (begin_to_act()) {
    try {
      own_calls const marked;
      bool more = true;
      while (more) take_one_step(more);
    } catch (std::exception const& e) {
      log_error("a capture could not be switched: ", e.what());
      look_again_.store(false);
    } catch (...) {
      look_again_.store(false);
    }
    acting_.clear(std::memory_order_release);
  }
  if (look_again_.load()) wake_drain();  // the drain thread will do it
}

void capture_switch::take_one_step(bool& more) {
  look_again_.store(false, std::memory_order_release);
  more = false;
  bool wanted = false, warming_up = false, listen = false;
  std::uint32_t count = 0;
  std::string trigger;
  {
    std::lock_guard const lock(plan_mutex_);
    wanted = plan_.wanted();
    warming_up = plan_.warming_up();
    listen = plan_.needs_cuda_profiler_calls();
    count = plan_.count();
    trigger = plan_.trigger();
  }
  auto const open = open_window_.load(std::memory_order_relaxed);
  if (open != 0 && (!wanted || open != count)) {
    close_window();
    more = true;
    return;
  }
  if ((wanted || warming_up) && !tracing_.is_on()) tracing_.switch_on(open != 0);
  if (listen) tracing_.listen_to_profiler_calls();
  if (wanted && open == 0) open_window(count, std::move(trigger));
}

void capture_switch::open_window(std::uint32_t index, std::string trigger) {
  open_window_.store(index, std::memory_order_relaxed);
  captured_.store(true);
  idle_since_ = 0;
  drain_.post({true, index, now(), std::move(trigger)});
  log_is_recording.store(true, std::memory_order_release);
  log_is_recording.notify_all();  // thread_sampler waits for it
  tracing_.window_opened();
}

void capture_switch::close_window() {
  tracing_.pause_counters();
  log_is_recording.store(false, std::memory_order_release);
  drain_.post({false, open_window_.exchange(0), now(), {}});
  tracing_.pause_counters();  // another client's end may have resumed them
}

void capture_switch::end_with_process() {
  tracing_.pause_counters();
  if (!capturing()) return;
  log_is_recording.store(false, std::memory_order_release);
  drain_.post({false, open_window_.exchange(0), now(), {}});
}

void capture_switch::leave_cupti() noexcept {
  no_cancellation const here;
  whole_environment const exact;
  if (process_is_exiting() || acting_.test_and_set(std::memory_order_acquire)) return;
  tracing_.leave();
  acting_.clear(std::memory_order_release);
}

bool capture_switch::at_rest() const noexcept {
  return drain_.at_rest(std::uint64_t{settings_.flush_timeout_ms} * ns_per_ms);
}

// Called within milliseconds after cuInit returns.
void capture_switch::start_what_waited_for_cuda() {
  if (!tracing_.has_a_rest()) return;
  if (acting_.test_and_set(std::memory_order_acquire)) return;
  std::vector<std::string> warnings;
  tracing_.start_the_rest(warnings);
  acting_.clear(std::memory_order_release);
  for (auto const& warning : warnings) log_warning(warning);
}

bool capture_switch::rest_if_nothing_runs() {
  if (capturing() || !at_rest()) return false;
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
  tracing_.note_failure();
  if (tracing_.is_on() && !capturing()) {
    if (idle_since_ == 0) idle_since_ = monotonic_ns();
    auto const idle = monotonic_ns() - idle_since_;
    if (!armed || idle > linger_ns) tracing_.switch_off(idle > max_unrest_ns);
  }
  auto const settled =
      !tracing_.is_on() && (armed || tracing_.prepare_to_leave()) && !look_again_.load();
  acting_.clear(std::memory_order_release);
  if (shutdown && !std::exchange(asked_to_end_, true)) {
    drain_.last_round();  // a SIGTERM may end the process at once, so the file is written first
    kill(getpid(), SIGTERM);
  }
  return settled;
}

}  // namespace gpuprof::guest

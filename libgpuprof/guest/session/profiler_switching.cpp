// SPDX-License-Identifier: Apache-2.0
// The part of process_profiler that switches tracing and capture windows according to the plan, and
// leaves CUPTI. Runs on any thread that holds `acting_`.
#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "guest/session/process_profiler.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace gpuprof::guest {
namespace {

std::size_t buffer_bytes_within(std::size_t limit) {
  return std::clamp<std::size_t>(limit / 64, 64 << 10, 1 << 20) & ~std::size_t{4095};
}

trace_options trace_options_of(settings const& asked) {
  trace_options options;
  options.cuda_api = asked.trace.cuda_api;
  options.blocking_calls = asked.trace.blocking;
  options.cuda_memory = asked.trace.cuda_memory;
  options.unified_memory = asked.trace.um;
  options.sync = asked.trace.sync;
  options.whole_graphs = asked.graph_trace == graph_detail::graph;
  return options;
}

}  // namespace

// Waits up to 100 ms if another thread is switching, because a capture that starts here should
// contain what follows. Returns false if that thread has already made the switch, or if it is left
// to the drain thread.
bool process_profiler::begin_to_act() noexcept {
  for (int i = 0; i < 200 && look_again_.load(std::memory_order_acquire); ++i) {
    if (!acting_.test_and_set(std::memory_order_acquire)) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  return false;
}

void process_profiler::follow_plan() noexcept {
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

void process_profiler::take_one_step(bool& more) {
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
  if ((wanted || warming_up) && !tracing_) switch_tracing_on();
  if (listen && !tracing_ && cuda_up_.load() && make_tracer() && !tracer_->attached()) {
    if (auto const ok = tracer_->attach(); !ok) say_tracing_is_off(ok.message());
  }
  if (wanted && open == 0) open_window(count, std::move(trigger));
}

bool process_profiler::make_tracer() {
  if (tracer_ != nullptr) return true;
  if (no_tracer_) return false;
  keep_children_inert();
  auto made =
      cupti_tracer::make(static_cast<unsigned>(driver_cuda_version()) / 1000, settings_.share_cupti,
                         budget_, buffer_bytes_within(budget_.limit()), callbacks_);
  if (!made) {
    no_tracer_ = true;
    say_tracing_is_off(made.message());
    return false;
  }
  tracer_ = std::move(*made);
  drain_.use_launching(launching_);
  drain_.use_tracer(*tracer_);
  counters_ = counter_worker::make(
      settings_, *tracer_, code_, [this] { return drain_.path(); },
      [] {
        if (auto* const profiler = existing()) profiler->end_counters();
      });
  if (counters_ != nullptr) {
    callbacks_.place_gate(counters_->gate());
    drain_.use_counters(*counters_);
    drain_.use_code(code_);
  }
  callbacks_.place_code_observer(*this);
  find_primary_context_state();
  other_client_.watch(*tracer_, counters_.get());
  return true;
}

void process_profiler::say_tracing_is_off(std::string const& why) {
  if (why == reason_tracing_is_off_) return;  // schedules try again at each step
  reason_tracing_is_off_ = why;
  log_warning("kernel tracing is off: " + why +
              ". The program is not affected; NVTX ranges are still recorded.");
}

void process_profiler::switch_tracing_on() {
  if (!settings_.trace.cuda || given_up_.load(std::memory_order_acquire)) return;
  // A program that calls NVTX but never cuInit is not touched. If it calls gpuprof_start(), CUDA
  // may have been initialized before the profiler.
  if (!cuda_up_.load() && !(asked_by_program_.load() && cuda_is_up())) return;
  auto const before = monotonic_ns();
  if (!make_tracer()) return;
  callbacks_.leave_at_next_call(false);
  leaving_ = false;
  std::vector<std::string> warnings;
  if (auto const ok = tracer_->start(trace_options_of(settings_), warnings)) {
    tracing_ = true;
    switch_nothing_after_exit();
    reason_tracing_is_off_.clear();
    if (counters_ != nullptr) counters_->callbacks_begin();
    // The capture began before CUDA was initialized.
    if (open_window_.load() != 0) other_client_.resume_counters();
  } else {
    say_tracing_is_off(ok.message());
  }
  for (auto const& warning : warnings) log_warning(warning);
  costs_.start_ns.fetch_add(monotonic_ns() - before, std::memory_order_relaxed);
}

void process_profiler::open_window(std::uint32_t index, std::string trigger) {
  open_window_.store(index, std::memory_order_relaxed);
  captured_.store(true);
  idle_since_ = 0;
  drain_.post({true, index, now(), std::move(trigger)});
  log_is_recording.store(true, std::memory_order_release);
  if (tracing_) other_client_.resume_counters();
  other_client_.say_once();
}

void process_profiler::close_window() {
  if (counters_ != nullptr) counters_->pause();
  log_is_recording.store(false, std::memory_order_release);
  drain_.post({false, open_window_.exchange(0), now(), {}});
  if (counters_ != nullptr) counters_->pause();  // another client's end may have resumed it
}

void process_profiler::leave_cupti() noexcept {
  no_cancellation const here;
  whole_environment const exact;
  if (process_is_exiting() || acting_.test_and_set(std::memory_order_acquire)) return;
  if (leaving_) {
    own_calls const marked;
    auto const before = monotonic_ns();
    if (tracer_->leave()) {  // fails during a flush: then tried again at a later call
      callbacks_.leave_at_next_call(false);
      leaving_ = false;
      kernels_by_pointer().code_unloads();  // its name pointers become invalid
    }
    costs_.leave_ns.fetch_add(monotonic_ns() - before, std::memory_order_relaxed);
  }
  acting_.clear(std::memory_order_release);
}

}  // namespace gpuprof::guest

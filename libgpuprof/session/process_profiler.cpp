// SPDX-License-Identifier: Apache-2.0
#include "session/process_profiler.hpp"

#include "base/clock.hpp"
#include "base/fork_guard.hpp"
#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "driver/cuda_driver.hpp"
#include "nvtx/name_registry.hpp"
#include "options/run_notes.hpp"
#include "plan/nothing_recorded.hpp"
#include "session/exit_summary.hpp"
#include "session/startup.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <thread>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::size_t max_ring_slots = 1 << 15;  // 1 MiB: 60 ms of the fastest launch loop

std::atomic<process_profiler*> the_profiler{nullptr};

std::unique_ptr<kernel_filter> filter_for(settings& options) {
  auto made = kernel_filter::make(options);
  if (made) return std::move(*made);
  log_warning(made.message());
  options.kernel_names.clear();
  return std::move(*kernel_filter::make(options));
}

std::size_t buffer_bytes_within(std::size_t limit) {
  return std::clamp<std::size_t>(limit / 64, 64 << 10, 1 << 20) & ~std::size_t{4095};
}

/// In a child that is a process like any other: the profiler of its parent is none of this one.
void forget_profiler_of_parent() noexcept {
  if (is_forked_child()) return;
  the_range_observer.store(nullptr);
  the_profiler.store(nullptr);
}

void watch_children_once() noexcept {
  static bool const watched = [] {
    watch_process_life();
    return pthread_atfork(nullptr, nullptr, forget_profiler_of_parent) == 0;
  }();
  (void)watched;
}

}  // namespace

// A child finds it made or not begun, and makes one of its own in either case.
process_profiler& process_profiler::get() {
  if (auto* const made = existing()) return *made;
  watch_children_once();
  fork_guard const whole;
  static std::mutex making;
  std::lock_guard const alone(making);
  if (auto* const made = existing()) return *made;
  auto* const made = new process_profiler;
  the_profiler.store(made, std::memory_order_release);
  return *made;
}

process_profiler* process_profiler::existing() noexcept {
  return the_profiler.load(std::memory_order_acquire);
}

process_profiler::process_profiler()
    : settings_(settings_of_this_process()),
      budget_(std::size_t{settings_.buffer_limit_mib} << 20),
      filter_(filter_for(settings_)),
      drain_(settings_, budget_, *filter_, costs_),
      callbacks_(*this),
      capture_range_(trigger_for(settings_.nvtx_capture)),
      step_range_(trigger_for(settings_.step_range)),
      plan_(settings_) {
  watch_own_calls(settings_.trace.cuda && settings_.trace.cuda_api);
  configure_thread_logs(&budget_, max_ring_slots);
  when_child_needs_logs(&process_profiler::nvtx_used_in_child);
  callbacks_.ask_observer(!filter_->passes_all());
  callbacks_.ask_of_primary_contexts(&primary_context_is_active);
  if (capture_range_ || step_range_) the_range_observer.store(this, std::memory_order_release);
}

std::optional<process_profiler::range_trigger> process_profiler::trigger_for(
    std::optional<range_pattern> const& pattern) {
  if (!pattern) return std::nullopt;
  range_trigger trigger{
      names().intern(pattern->name), names().intern(pattern->domain), pattern->any_domain, {}, {}};
  auto const& name = pattern->name;
  auto const colon = name.find(':');
  auto const is_shown_form = pattern->domain.empty() && !pattern->any_domain &&
                             colon != std::string::npos && colon != 0 && name[colon + 1] != ':' &&
                             colon + 1 < name.size();
  if (!is_shown_form) return trigger;
  trigger.shown_domain = names().intern(name.substr(0, colon));
  trigger.shown_name = names().intern(name.substr(colon + 1));
  return trigger;
}

template <class Event>
void process_profiler::tell_plan(Event&& event) noexcept {
  if (is_forked_child()) return;
  no_cancellation const here;
  try {
    {
      std::lock_guard const lock(plan_mutex_);
      event(plan_);
    }
    follow_plan();
  } catch (std::exception const& e) {
    log_error(std::string("profiling stopped for lack of resources: ") + e.what() +
              ". The program is not affected.");
  } catch (...) {
  }
}

void process_profiler::begin() {
  if (begun_.exchange(true)) return;
  end_with_process();
  start_drain_thread();
}

void process_profiler::end_with_process() {
  std::atexit([] {
    if (auto* const profiler = existing()) profiler->shut_down();
  });
}

void process_profiler::cuda_initialised() {
  keep_children_inert();
  // Exit handlers run last one first: ours has to come before the driver's.
  if (begun_.load() && !cuda_up_.load()) end_with_process();
  cuda_up_.store(true, std::memory_order_release);
  begin();
  tell_plan([](capture_plan& plan) { plan.begin(monotonic_ns()); });
}

void process_profiler::nvtx_used() {
  begin();
  tell_plan([](capture_plan& plan) { plan.begin(monotonic_ns()); });
}

void process_profiler::nvtx_used_in_child() noexcept {
  no_cancellation const here;
  try {
    auto& profiler = get();
    if (profiler.wants_nvtx()) profiler.nvtx_used();
  } catch (...) {  // no memory: tried again at the next call
  }
}

bool process_profiler::start(std::string const& output) {
  if (is_forked_child() || process_is_exiting()) return false;
  if (!output.empty()) drain_.choose_output(in_current_folder(output));
  asked_by_program_.store(true);
  begin();
  tell_plan([](capture_plan& plan) { plan.api_start(monotonic_ns()); });
  return capturing();
}

bool process_profiler::stop() {
  if (is_forked_child() || !capturing()) return false;
  tell_plan([](capture_plan& plan) { plan.api_stop(monotonic_ns()); });
  return drain_.flush_and_wait(settings_.flush_timeout_ms);
}

bool process_profiler::flush() {
  if (is_forked_child() || !begun_.load() || shut_down_.load()) return false;
  return drain_.flush_and_wait(settings_.flush_timeout_ms);
}

void process_profiler::step() {
  tell_plan([](capture_plan& plan) { plan.step(monotonic_ns()); });
}

void process_profiler::tick(std::uint64_t moment) noexcept {
  tell_plan([moment](capture_plan& plan) { plan.tick(moment); });
}

void process_profiler::profiler_start() noexcept {
  tell_plan([](capture_plan& plan) { plan.profiler_start(monotonic_ns()); });
}

void process_profiler::profiler_stop() noexcept {
  tell_plan([](capture_plan& plan) { plan.profiler_stop(monotonic_ns()); });
}

void process_profiler::on_push(name_id name, name_id domain) noexcept {
  if (!capture_range_ || !capture_range_->matches(name, domain)) return;
  if (capture_range_depth_.fetch_add(1) == 0) {
    tell_plan([](capture_plan& plan) { plan.range_entered(monotonic_ns()); });
  }
}

void process_profiler::on_pop(name_id name, name_id domain) noexcept {
  if (step_range_ && step_range_->matches(name, domain)) step();
  if (!capture_range_ || !capture_range_->matches(name, domain)) return;
  if (capture_range_depth_.fetch_sub(1) == 1) {
    tell_plan([](capture_plan& plan) { plan.range_left(monotonic_ns()); });
  }
}

bool process_profiler::is_selected(char const* kernel) noexcept {
  return filter_->selects_launch(kernel);
}

// The records of a context must be fetched while it lives.
void process_profiler::context_ending() noexcept {
  no_cancellation const here;
  if (auto* const tracer = tracer_.get(); tracer != nullptr && open_window_.load() != 0) {
    own_calls const marked;
    tracer->flush(false);
  }
}

void process_profiler::cupti_failed(CUptiResult code, char const* message) noexcept {
  no_cancellation const here;
  try {
    log_error("kernel tracing ends here: CUPTI has shut itself down (" + std::to_string(code) +
              ", " + (message != nullptr ? message : "no reason given") +
              "). What was traced so far is kept; the program goes on.");
  } catch (...) {
  }
  // CUPTI calls this wherever it notices, perhaps while we act: only say so, and never call CUPTI
  // again.
  given_up_.store(true, std::memory_order_release);
  callbacks_.leave_at_next_call(false);
  if (auto* const tracer = tracer_.get()) tracer->abandon();
  if (counters_ != nullptr) counters_->abandon();
}

// Somebody may be acting: wait for him a little, since a capture that starts here should hold what
// comes next. False when he has done it, or when it is left to the drain thread.
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
      log_error(std::string("a capture could not be switched: ") + e.what());
      look_again_.store(false);
    }
    acting_.clear(std::memory_order_release);
  }
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
  static bool failed = false;
  if (failed) return false;
  keep_children_inert();
  auto made =
      cupti_tracer::make(static_cast<unsigned>(driver_cuda_version()) / 1000, settings_.share_cupti,
                         budget_, buffer_bytes_within(budget_.limit()), callbacks_);
  if (!made) {
    failed = true;
    say_tracing_is_off(made.message());
    return false;
  }
  tracer_ = std::move(*made);
  drain_.use_tracer(*tracer_);
  counters_ = counter_worker::make(
      settings_, *tracer_, code_, [this] { return drain_.path(); },
      [] {
        if (auto* const profiler = existing()) profiler->end_counters();
      });
  if (counters_ != nullptr) {
    callbacks_.place_gate(*counters_);
    drain_.use_counters(*counters_);
    callbacks_.place_code_observer(*this);
    drain_.use_code(code_);
  }
  find_primary_context_state();
  other_client_.watch(*tracer_, counters_.get());
  return true;
}

void process_profiler::say_tracing_is_off(std::string const& why) {
  if (why == reason_tracing_is_off_) return;  // each step of a schedule tries again
  reason_tracing_is_off_ = why;
  log_warning("kernel tracing is off: " + why +
              ". The program is not affected; NVTX ranges are still recorded.");
}

void process_profiler::switch_tracing_on() {
  if (!settings_.trace.cuda || given_up_.load(std::memory_order_acquire)) return;
  // A program that calls NVTX and never cuInit stays untouched; in one that calls gpuprof_start()
  // CUDA may have been up before us.
  if (!cuda_up_.load() && !(asked_by_program_.load() && cuda_is_up())) return;
  auto const before = monotonic_ns();
  if (!make_tracer()) return;
  callbacks_.leave_at_next_call(false);
  leaving_ = false;
  trace_choice choice;
  choice.cuda_api = settings_.trace.cuda_api;
  choice.cuda_memory = settings_.trace.cuda_memory;
  choice.unified_memory = settings_.trace.um;
  choice.sync = settings_.trace.sync;
  choice.whole_graphs = settings_.graph_trace == graph_detail::graph;
  std::vector<std::string> warnings;
  if (auto const ok = tracer_->start(choice, warnings)) {
    tracing_ = true;
    switch_nothing_after_exit();
    reason_tracing_is_off_.clear();
    if (counters_ != nullptr) counters_->callbacks_begin();
    // A capture that began before CUDA was up.
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
  if (counters_ != nullptr) counters_->pause();  // resumed meanwhile, where another client ended
}

void process_profiler::leave_cupti() noexcept {
  no_cancellation const here;
  if (process_is_exiting() || acting_.test_and_set(std::memory_order_acquire)) return;
  if (leaving_) {
    own_calls const marked;
    auto const before = monotonic_ns();
    if (tracer_->leave()) {  // else a flush is under way: at a later call
      callbacks_.leave_at_next_call(false);
      leaving_ = false;
      kernels_by_pointer().code_unloads();  // its names go with it
    }
    costs_.leave_ns.fetch_add(monotonic_ns() - before, std::memory_order_relaxed);
  }
  acting_.clear(std::memory_order_release);
}

/// Before the libraries that they use are torn down. What else the program does is still traced:
/// the main thread may have ended alone.
void process_profiler::end_counters() noexcept {
  if (is_forked_child() || getpid() != owner_ || shut_down_.load()) return;
  no_cancellation const here;
  counters_->pause();
  (void)counters_->finish(counter_worker::ending::process, settings_.flush_timeout_ms);
}

/// `gpuprof profile` says it for all of its processes, where none of them has recorded anything.
void process_profiler::say_why_nothing_was_recorded() {
  std::lock_guard const lock(plan_mutex_);
  auto const why = why_nothing_was_recorded(settings_, plan_, names());
  if (!note_no_capture(settings_.run_notes, why)) log_warning("nothing was recorded: " + why);
}

void process_profiler::shut_down() noexcept {
  // The process id too: a child made by a bare system call has run no fork handler, and has no
  // drain thread.
  if (is_forked_child() || getpid() != owner_ || shut_down_.exchange(true)) return;
  no_cancellation const here;
  try {
    note_process_exit();
    if (counters_ != nullptr) counters_->pause();
    if (open_window_.load() != 0) {
      log_is_recording.store(false, std::memory_order_release);
      drain_.post({false, open_window_.exchange(0), now(), {}});
    }
    auto const limit = settings_.flush_timeout_ms + 1000;
    if (thread_started_.load() && !drain_.finish_and_wait(limit)) {
      log_warning("the last records are missing from " + drain_.path() +
                  ": they did not come within " + std::to_string(limit) +
                  " ms of the program's end. Raise GPUPROF_FLUSH_TIMEOUT_MS to wait longer.");
    }
    if (!captured_.load()) say_why_nothing_was_recorded();
    if (settings_.stats) print_exit_summary(totals(), counters());
  } catch (...) {
  }
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
#include "guest/session/tracing_switch.hpp"

#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "guest/operators/torch_operators.hpp"
#include "guest/stacks/native_stack.hpp"
#include "guest/stacks/python_runtime.hpp"
#include "guest/stacks/python_stack.hpp"
#include "guest/threads/thread_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
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
  options.some_by_nodes = asked.computes_graphs();
  options.nodes_budget_millionths =
      static_cast<std::uint32_t>(asked.metrics.budget_percent * 10'000);
  options.whole_graphs = options.some_by_nodes || asked.graph_trace == graph_detail::graph;
  return options;
}

std::uint8_t kinds_of(native_backtrace const& asked) {
  unsigned kinds = 0;
  auto const add = [&](bool is_asked, call_kind kind) {
    if (is_asked) kinds |= static_cast<unsigned>(kind);
  };
  add(asked.kernels, call_kind::kernel);
  add(asked.copies, call_kind::copy);
  add(asked.allocations, call_kind::allocation);
  add(asked.waits, call_kind::wait);
  add(asked.others, call_kind::other);
  add(asked.long_waits, call_kind::long_wait);
  return static_cast<std::uint8_t>(kinds);
}

}  // namespace

tracing_switch::tracing_switch(settings const& options, memory_budget& budget, drain& recording,
                               launch_callbacks& callbacks, app_costs& costs,
                               std::function<bool()> is_capturing, exit_handlers at_exit)
    : settings_(options),
      budget_(budget),
      drain_(recording),
      callbacks_(callbacks),
      costs_(costs),
      at_exit_(at_exit),
      other_client_(costs, std::move(is_capturing)) {}

bool tracing_switch::make_tracer() {
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
      settings_, *tracer_, code_, [this] { return drain_.path(); }, at_exit_.end_counters);
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

void tracing_switch::say_tracing_is_off(std::string const& why) {
  if (why == reason_tracing_is_off_) return;  // schedules try again at each step
  reason_tracing_is_off_ = why;
  log_warning("kernel tracing is off: " + why +
              ". The program is not affected; NVTX ranges are still recorded.");
}

void tracing_switch::switch_on(bool capturing) {
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
    is_on_ = true;
    switch_nothing_after_exit();
    reason_tracing_is_off_.clear();
    if (counters_ != nullptr) counters_->callbacks_begin();
    // The capture began before CUDA was initialized.
    if (capturing) other_client_.resume_counters();
  } else {
    say_tracing_is_off(ok.message());
  }
  if (is_on_) {
    begin_stacks(warnings);
    begin_operators(warnings);
  }
  for (auto const& warning : warnings) log_warning(warning);
  costs_.start_ns.fetch_add(monotonic_ns() - before, std::memory_order_relaxed);
}

void tracing_switch::begin_stacks(std::vector<std::string>& warnings) {
  // At most half of what counters and stacks may cost together.
  auto const share_if_automatic = std::min(0.005, settings_.metrics.budget_percent / 200);
  python_runtime const* python = nullptr;
  if (settings_.python_stacks != python_backtrace::none) {
    std::string reason;
    python = find_python(reason);
    read_python_stacks(
        python, settings_.python_stacks == python_backtrace::automatic ? share_if_automatic : 1);
    if (!reason.empty() && !std::exchange(stacks_refused_, true))
      warnings.push_back("Python stacks are off: " + reason + ". All else is recorded.");
  }
  auto const native = kinds_of(settings_.native_stacks);
  read_native_stacks(native, std::min(0.002, settings_.metrics.budget_percent / 500), python);
  if (settings_.sampling == thread_sampling::none) return;
  if (auto const error = sample_threads(python); error != 0)
    warnings.push_back("threads of the program are not sampled: pthread_create() returned " +
                       std::to_string(error) + ". All else is recorded.");
}

void tracing_switch::begin_operators(std::vector<std::string>& warnings) {
  constexpr std::uint64_t again_after_ns = 500'000'000;
  if (settings_.pytorch == torch_recording::none || operators_refused_) return;
  std::string reason;
  auto const outcome = begin_torch_operators(reason);
  look_for_torch_at_ = outcome == torch_outcome::not_loaded ? monotonic_ns() + again_after_ns : 0;
  if (outcome != torch_outcome::unusable) return;
  operators_refused_ = true;
  warnings.push_back("PyTorch's operators are not recorded: " + reason + ". All else is recorded.");
}

void tracing_switch::switch_off(bool forced) {
  // While a launch is being read, its end must be reported by CUPTI.
  if (!forced && counters_ != nullptr && !counters_->is_idle()) return;
  look_for_torch_at_ = 0;
  end_torch_operators();
  drain_.last_round();
  switch_nothing_after_exit();
  if (tracer_->stop()) {
    drain_.last_round();
    is_on_ = false;
  }
}

void tracing_switch::listen_to_profiler_calls() {
  if (is_on_ || !cuda_up_.load() || !make_tracer() || tracer_->attached()) return;
  if (auto const ok = tracer_->attach(); !ok) say_tracing_is_off(ok.message());
}

void tracing_switch::start_the_rest(std::vector<std::string>& warnings) {
  if (!is_on_) return;
  if (tracer_->waits_for_cuda()) tracer_->start_the_rest(warnings);
  auto const look_at = look_for_torch_at_.load();
  if (look_at != 0 && monotonic_ns() >= look_at) begin_operators(warnings);
}

void tracing_switch::window_opened() noexcept {
  if (is_on_) other_client_.resume_counters();
  other_client_.say_once();
}

bool tracing_switch::prepare_to_leave() {
  auto const stuck = counters_ != nullptr && counters_->is_stuck();
  if (tracer_ == nullptr || !tracer_->attached() || leaving_ || stuck) return true;
  // With active counters or an open range, CUPTI must not be left. This is tried again later.
  auto const given_back =
      counters_ == nullptr ||
      (counters_->finish(counter_worker::ending::leaving, settings_.flush_timeout_ms) &&
       !counters_->is_stuck());
  if (!given_back) return false;
  leaving_ = true;
  callbacks_.leave_at_next_call(true);
  tracer_->listen_to_any_call();
  return true;
}

void tracing_switch::leave() noexcept {
  if (!leaving_) return;
  own_calls const marked;
  auto const before = monotonic_ns();
  if (tracer_->leave()) {  // fails during a flush: then tried again at a later call
    callbacks_.leave_at_next_call(false);
    leaving_ = false;
    kernels_by_pointer().code_unloads();  // its name pointers become invalid
  }
  costs_.leave_ns.fetch_add(monotonic_ns() - before, std::memory_order_relaxed);
}

void tracing_switch::note_failure() noexcept {
  if (given_up_.load()) is_on_ = leaving_ = false;
}

void tracing_switch::pause_counters() noexcept {
  if (counters_ != nullptr) counters_->pause();
}

void tracing_switch::end_counters() noexcept {
  auto const before = monotonic_ns();
  counters_->pause();
  (void)counters_->finish(counter_worker::ending::process, settings_.flush_timeout_ms);
  costs_.end_ns.fetch_add(monotonic_ns() - before, std::memory_order_relaxed);
}

void tracing_switch::flush() noexcept {
  if (auto* const tracer = tracer_.get()) {
    own_calls const marked;
    tracer->flush(false);
  }
}

void tracing_switch::cupti_failed(CUptiResult code, char const* message) noexcept {
  no_cancellation const here;
  log_error("kernel tracing ends here: CUPTI has shut itself down (", std::to_string(code), ", ",
            message != nullptr ? message : "no reason given",
            "). What was traced so far is kept; the program goes on.");
  // CUPTI calls this at any point, perhaps while a capture is being switched. So this only sets
  // flags, and CUPTI is never called again.
  given_up_.store(true, std::memory_order_release);
  callbacks_.leave_at_next_call(false);
  if (auto* const tracer = tracer_.get()) tracer->abandon();
  if (counters_ != nullptr) counters_->abandon();
}

void tracing_switch::code_loaded(std::span<std::uint8_t const> image) noexcept {
  launching_.add_module(image);
  if (counters_ == nullptr) return;
  using enum code_inventory::origin;
  code_.add_module(image, counters_->reads_launches() ? maybe_rewritten : program);
}

/// Exit handlers run in reverse order of registration. A handler registered long after CUDA's start
/// runs before the driver is torn down. It prevents that a thread disables CUPTI's records during
/// that. It is registered again from time to time, because the driver may register its own later.
void tracing_switch::switch_nothing_after_exit() {
  if (std::has_single_bit(++times_switched_)) std::atexit(at_exit_.close_switches);
}

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
#include "guest/session/process_profiler.hpp"

#include "base/fork_guard.hpp"
#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/own_calls.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "guest/live/live_totals.hpp"
#include "guest/live/summary.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/options/nothing_recorded.hpp"
#include "guest/options/run_notes.hpp"
#include "guest/options/settings.hpp"
#include "guest/recording/capture_output.hpp"
#include "guest/session/inert_child.hpp"

#include <climits>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest {
namespace {

/// Returns nothing without a pattern. Interns the names of the pattern.
std::optional<range_trigger> trigger_for(std::optional<range_pattern> const& pattern) {
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

/// Prints to stderr, line by line.
void print_exit_summary(live_snapshot const& totals, named_counters const& counters) {
  text::overview about;
  about.program = command_line();
  about.records = {{"kernels", totals.kernel_count}, {"graphs", totals.graph_count}};
  std::uint64_t copies = 0, fills = 0;
  for (auto const& copy : totals.copies) (copy.is_fill ? fills : copies) += copy.count;
  about.records.push_back({"copies", copies});
  about.records.push_back({"fills", fills});
  for (auto const& [name, value] : counters) text::add_counter(about, name, value);
  auto const text = summary_text(about, totals);
  for (std::size_t from = 0; from < text.size();) {
    auto const to = std::min(text.find('\n', from), text.size());
    log_info(std::string_view(text).substr(from, to - from));
    from = to + 1;
  }
}

/// A relative output name refers to the current folder, even if the program changes it later.
std::string in_current_folder(std::string pattern) {
  if (pattern.empty() || pattern[0] == '/' || pattern[0] == '%') return pattern;
  char folder[PATH_MAX];
  return getcwd(folder, sizeof folder) != nullptr ? std::string(folder) + '/' + pattern : pattern;
}

/// Reads GPUPROF_* from the environment and logs a line for each problem. Sets the log level.
settings settings_of_this_process() {
  auto parsed = read_settings(environ);
  parsed.values.output = in_current_folder(std::move(parsed.values.output));
  if (char const* const notes = secure_getenv(run_notes_variable)) parsed.values.run_notes = notes;
  set_log_level(parsed.values.log_level);
  for (auto const& warning : parsed.warnings) log_warning(warning);
  return std::move(parsed.values);
}

// 16 MiB hold 170,000 empty ranges. The fastest launch loop fills 1 MiB in 60 ms.
constexpr std::size_t max_ring_slots = 1 << 19;

constexpr char const* process_ends = "the process is ending: nothing more is captured";

std::atomic<process_profiler*> the_profiler{nullptr};

std::unique_ptr<kernel_filter> filter_for(settings& options) {
  auto made = kernel_filter::make(options);
  if (made) return std::move(*made);
  log_warning(made.message());
  options.kernel_names.clear();
  return std::move(*kernel_filter::make(options));
}

/// Called in a child that is profiled like any other process: it must not use its parent's
/// profiler.
void forget_profiler_of_parent() noexcept {
  if (is_forked_child()) return;
  the_range_observer.store(nullptr);
  the_profiler.store(nullptr);
}

void watch_children_once() noexcept {
  static bool const watched = [] {
    watch_process_life();
    return run_in_children(forget_profiler_of_parent);
  }();
  (void)watched;
}

}  // namespace

// A forked child finds the profiler either complete or not begun, and makes its own in both cases.
process_profiler& process_profiler::get() {
  if (auto* const made = existing()) return *made;
  watch_children_once();
  fork_guard const whole;
  static std::mutex making;
  std::lock_guard const alone(making);
  if (auto* const made = existing()) return *made;
  names();  // must exist before the parts of the profiler use it
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
      tracing_(
          settings_, budget_, drain_, callbacks_, costs_, [this] { return capturing(); },
          exit_handlers{&process_profiler::end_counters, &process_profiler::close_switches}),
      switch_(settings_, drain_, tracing_),
      thread_(settings_, drain_, switch_),
      capture_range_(trigger_for(settings_.nvtx_capture)),
      step_range_(trigger_for(settings_.step_range)),
      own_domain_(step_range_ ? names().intern(own_domain) : name_id{}) {
  watch_own_calls(settings_.trace.cuda && settings_.trace.cuda_api);
  names().count_against(budget_);
  configure_thread_logs(&budget_, max_ring_slots);
  when_child_needs_logs(&process_profiler::nvtx_used_in_child);
  callbacks_.ask_observer(!filter_->passes_all());
  callbacks_.ask_of_primary_contexts(&primary_context_is_active);
  if (capture_range_ || step_range_) the_range_observer.store(this, std::memory_order_release);
}

void process_profiler::begin() {
  if (begun_.exchange(true)) return;
  end_with_process();
  thread_.start();
}

void process_profiler::end_with_process() {
  std::atexit([] {
    if (auto* const profiler = existing()) profiler->shut_down();
  });
}

void process_profiler::cuda_initialized() {
  keep_children_inert();
  // Exit handlers run in reverse order of registration, so ours must be registered again to run
  // before the driver's.
  if (begun_.load() && !tracing_.cuda_is_initialized()) end_with_process();
  tracing_.cuda_initialized();
  begin();
  switch_.tell([](capture_plan& plan) { plan.begin(monotonic_ns()); });
}

void process_profiler::nvtx_used() {
  begin();
  switch_.tell([](capture_plan& plan) { plan.begin(monotonic_ns()); });
}

void process_profiler::nvtx_used_in_child() noexcept {
  no_cancellation const here;
  whole_environment const exact;
  try {
    auto& profiler = get();
    if (profiler.wants_nvtx()) profiler.nvtx_used();
  } catch (...) {  // out of memory: tried again at the next call
  }
}

api_outcome process_profiler::start(std::string const& output) {
  if (is_forked_child()) return api_outcome::inactive(inert_child_line().text());
  if (process_is_exiting()) return api_outcome::inactive(process_ends);
  if (drain_.state_of_file() == file_state::limit_reached)
    return api_outcome::inactive(drain_.why_no_file());
  thread_.keep_live_totals();
  if (!output.empty()) drain_.choose_output(in_current_folder(output));
  tracing_.asked_by_program();
  begin();
  if (auto const code = thread_.error(); code != 0)
    return api_outcome::inactive(line_without_thread(code));
  whole_environment const exact;
  switch_.change([](capture_plan& plan) { plan.api_start(monotonic_ns()); });
  if (capturing()) return {};
  if (switch_.is_behind())
    return api_outcome::late(
        "another thread is starting or ending a capture: this one starts in the background");
  return api_outcome::inactive(
      "the capture was ended by another thread, or could not be switched on: see the lines of "
      "[gpuprof] on stderr");
}

api_outcome process_profiler::stop() {
  if (is_forked_child()) return api_outcome::inactive(inert_child_line().text());
  if (!capturing()) return api_outcome::inactive(why_not_capturing());
  whole_environment const exact;
  switch_.change([](capture_plan& plan) { plan.api_stop(monotonic_ns()); });
  return write_all();
}

api_outcome process_profiler::flush() {
  if (is_forked_child()) return api_outcome::inactive(inert_child_line().text());
  if (!active()) return api_outcome::inactive(begun_.load() ? process_ends : nothing_captured);
  return write_all();
}

std::string process_profiler::why_not_capturing() const {
  if (auto why = drain_.why_no_file(); !why.empty()) return why;
  return no_capture_runs;
}

api_outcome process_profiler::write_all() {
  if (auto const code = thread_.error(); code != 0)
    return api_outcome::inactive(line_without_thread(code));
  if (!drain_.flush_and_wait(settings_.flush_timeout_ms))
    return api_outcome::late(
        "not all of the capture is in its file after " +
        std::to_string(settings_.flush_timeout_ms) +
        " ms (GPUPROF_FLUSH_TIMEOUT_MS): the rest is written in the background");
  if (drain_.state_of_file() != file_state::usable)
    return api_outcome::inactive(drain_.why_no_file());
  return {};
}

void process_profiler::step() {
  auto* const log = settings_.trace.nvtx ? this_thread_log() : nullptr;
  // A capture that ends here includes the previous step; one that begins here includes the next.
  if (log != nullptr) end_step(*log);
  if (settings_.schedule) count_step();
  if (log != nullptr) begin_step(*log);
}

void process_profiler::count_step() noexcept {
  switch_.tell([](capture_plan& plan) { plan.step(monotonic_ns()); });
}

void process_profiler::profiler_start() noexcept {
  switch_.tell([](capture_plan& plan) { plan.profiler_start(monotonic_ns()); });
}

void process_profiler::profiler_stop() noexcept {
  switch_.tell([](capture_plan& plan) { plan.profiler_stop(monotonic_ns()); });
}

void process_profiler::on_push(name_id name, name_id domain) noexcept {
  if (!capture_range_ || !capture_range_->matches(name, domain)) return;
  if (capture_range_depth_.fetch_add(1) == 0) {
    switch_.tell([](capture_plan& plan) { plan.range_entered(monotonic_ns()); });
  }
}

void process_profiler::on_pop(name_id name, name_id domain) noexcept {
  // gpuprof_step() counts its own steps itself.
  if (step_range_ && domain != own_domain_ && step_range_->matches(name, domain)) count_step();
  if (!capture_range_ || !capture_range_->matches(name, domain)) return;
  if (capture_range_depth_.fetch_sub(1) == 1) {
    switch_.tell([](capture_plan& plan) { plan.range_left(monotonic_ns()); });
  }
}

bool process_profiler::is_selected(char const* kernel) noexcept {
  return filter_->selects_launch(kernel);
}

// The records of a context must be fetched while it exists.
void process_profiler::context_ending() noexcept {
  no_cancellation const here;
  whole_environment const exact;
  if (capturing()) tracing_.flush();
}

void process_profiler::cupti_failed(CUptiResult code, char const* message) noexcept {
  tracing_.cupti_failed(code, message);
}

void process_profiler::leave_cupti() noexcept {
  switch_.leave_cupti();
}

/// Ends counters before the libraries that they use are torn down. Tracing continues, because
/// possibly only the main thread has ended.
void process_profiler::end_counters() noexcept {
  auto* const profiler = existing();
  if (profiler == nullptr || !profiler->is_mine() || profiler->shut_down_.load()) return;
  no_cancellation const here;
  whole_environment const exact;
  profiler->tracing_.end_counters();
}

void process_profiler::close_switches() noexcept {
  auto* const profiler = existing();
  if (profiler != nullptr && profiler->is_mine()) profiler->callbacks_.switches().close();
}

// Also compares the process id: a child made by a bare system call has run no fork handler and has
// no drain thread.
bool process_profiler::is_mine() const noexcept {
  return !is_forked_child() && getpid() == owner_;
}

/// `gpuprof profile` prints the reason for all its processes if none of them has recorded anything.
void process_profiler::say_why_nothing_was_recorded() {
  auto const why = switch_.ask([this](capture_plan const& plan) {
    return why_nothing_was_recorded(settings_, plan, names());
  });
  if (why.empty()) return;
  if (!note_no_capture(settings_.run_notes, why)) log_warning("nothing was recorded: " + why);
}

void process_profiler::shut_down() noexcept {
  if (!is_mine() || shut_down_.exchange(true)) return;
  no_cancellation const here;
  whole_environment const exact;
  try {
    note_process_exit();
    switch_.end_with_process();
    auto const limit = settings_.flush_timeout_ms + 1000;
    if (thread_.is_started() && !drain_.finish_and_wait(limit)) {
      log_warning("the last records are missing from " + drain_.path() +
                  ": they did not come within " + std::to_string(limit) +
                  " ms of the program's end. Raise GPUPROF_FLUSH_TIMEOUT_MS to wait longer.");
    }
    if (!has_captured()) say_why_nothing_was_recorded();
    if (settings_.stats) print_exit_summary(totals(), counters());
  } catch (std::exception const& e) {
    log_warning("the end of the run is not told: ", e.what());
  } catch (...) {
  }
}

}  // namespace gpuprof::guest

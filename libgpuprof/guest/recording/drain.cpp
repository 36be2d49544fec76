// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/drain.hpp"

#include "base/fork_guard.hpp"
#include "base/log.hpp"
#include "base/own_descriptor.hpp"
#include "base/process.hpp"
#include "base/readable.hpp"
#include "base/time.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/recording/source_lines.hpp"
#include "guest/stacks/loaded_binaries.hpp"
#include "guest/stacks/native_stack.hpp"
#include "model/own_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <map>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest {
namespace {

// At the end of the process, no more records are expected after this long without one. A program
// that exits with running kernels should not wait for them.
constexpr std::uint64_t patience_at_exit = ns_per_second / 4;
constexpr std::uint64_t patience_for_late_records = ns_per_second / 10;
constexpr std::size_t buffers_at_once = 16;
constexpr std::size_t buffers_ready = 4;
// Used while the side thread works: a flush of CUPTI fills buffers faster than the GPU does.
constexpr std::chrono::milliseconds look_for_buffers_every{1};
// Work that began just before a flush may not have ended, so it has no record yet.
constexpr std::uint64_t max_expected_kernel = ns_per_second / 50;
// A launching call can take this long to return if there are a thousand other threads. Its note is
// written at its end, and the kernel's record can arrive before.
constexpr std::uint64_t max_return = 10 * ns_per_second;
constexpr timestamp_ns nothing_follows{~std::uint64_t{0}};
constexpr std::uint64_t release_every = ns_per_second;
constexpr std::uint64_t min_graph_wait = ns_per_second / 4;
constexpr std::uint64_t settle_graphs_every = ns_per_second / 20;  // there may be many launches

}  // namespace

drain::drain(settings const& options, memory_budget& budget, kernel_filter const& filter,
             app_costs const& costs)
    : options_(options),
      filter_(filter),
      costs_(costs),
      budget_(budget),
      totals_([this](name_id id) { return text_of(id); }),
      output_(options),
      live_({&totals_}) {}

/// Called by the drain thread only. The caller must copy the result.
std::string_view drain::text_of(name_id id) {
  return asked_text_ = names().text(id);
}

void drain::lose(char const* why) noexcept {
  failed_steps_.fetch_add(1, std::memory_order_relaxed);
  static std::atomic<bool> said{false};
  if (first_time(said)) log_error("records were lost: ", why, ". The program is not affected.");
}

void drain::post(window_event event) {
  {
    std::lock_guard const lock(mutex_);
    events_.push_back(std::move(event));
  }
  wake_drain();
}

named_counters drain::counters() const {
  std::lock_guard const lock(mutex_);
  return counters_;
}

void drain::make_assembler() {
  if (assembler_ != nullptr) return;
  // The first capture initializes many things that exist once per process. A forked child must not
  // find them half made.
  fork_guard const whole;
  std::vector<record_sink*> to;
  if (auto* const file = output_.open()) to.push_back(file_ ? &*file_ : &file_.emplace(*file));
  to.push_back(&live_);
  to.push_back(&asking_);
  records_ = record_sinks(std::move(to));  // not also(): this may run again if memory runs out
  assembler_ = std::make_unique<trace_assembler>(
      records_, names(),
      filter_.has_names() ? trace_assembler::kernel_predicate(
                                [this](std::string_view n) { return filter_.name_matches(n); })
                          : nullptr);
  if (options_.computes_graphs()) assembler_->compute_graphs();
}

/// Takes events one by one, so that an event that fails because memory is out is tried again.
void drain::take_windows() {
  for (;;) {
    window_event const* event = nullptr;
    {
      std::lock_guard const lock(mutex_);
      if (events_.empty()) return;
      event = &events_.front();  // stays in place: only this thread removes events
    }
    if (event->opened) make_assembler();
    if (assembler_ != nullptr) take(*event);
    std::lock_guard const lock(mutex_);
    events_.pop_front();
  }
}

void drain::take(window_event const& event) {
  if (event.opened) {
    assembler_->open_window({event.index, event.time, {}, names().intern(event.trigger)});
    attempt([&] {
      for (auto const& range : claim_started_ranges()) assembler_->begin(range);
    });
  } else {
    assembler_->close_window(event.time);
    closed_at_ = last_progress_ = monotonic_ns();
    quiet_ = false;
  }
}

void drain::find_main_thread() {
  thread_identity fresh[64];
  while (auto const count = new_threads(threads_seen_, fresh))
    for (auto const& thread : std::span(fresh, count))
      if (std::cmp_equal(thread.os_thread, getpid())) live_.main_thread_is(thread.thread);
}

/// Returns false if there is nothing more to take.
bool drain::take_some_buffers() {
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  if (tracer == nullptr) {
    while (take_own_calls()) {  // there are no records to match them with
    }
    output_.write_names();
    drain_all_logs(*assembler_);
    return false;
  }
  auto* const worker = counting_.load(std::memory_order_acquire);
  if (worker != nullptr) assembler_->counters_are_read();
  if (decoder_ == nullptr) {
    if (worker != nullptr) records_.also(*worker);
    decoder_ = std::make_unique<activity_decoder>(tracer->library().api, tracer->library().version,
                                                  names(), kernels_by_pointer(),
                                                  assembler_->launches(), *assembler_);
    assembler_->tell_launches_apart(
        [this](shape_id known, name_id kernel, std::uint32_t arguments) {
          return decoder_->shape_for(known, kernel, arguments);
        });
    if (auto const* const known = launching_.load(std::memory_order_acquire))
      assembler_->find_launching_kernels(
          [known](std::string_view mangled) { return known->has(mangled); });
    assembler_->name_calls([this](std::uint32_t id) { return decoder_->name_of_driver_call(id); });
  }
  // Reads buffers first, then rings. So the launch of every record in these buffers is known,
  // except for calls that have not returned yet.
  std::array<filled_buffer, buffers_at_once> room;
  std::size_t count = 0;
  while (count < buffers_at_once) {
    auto const buffer = tracer->next_filled();
    if (!buffer) break;
    room[count++] = *buffer;
  }
  std::span const filled(room.data(), count);
  output_.write_names();
  drain_all_logs(*assembler_);
  while (auto const own = take_own_calls()) assembler_->own_calls_made(*own);
  find_main_thread();
  settle();
  for (auto const& f : filled) {
    attempt([&] {
      decoder_->decode({f.buffer.bytes, f.used});
      tell_of_lost_grids();
      output_.write_names();
    });
    tracer->pool().release(f.buffer, f.used);
    drain_all_logs(*assembler_);  // decoding takes milliseconds; rings hold tens of milliseconds
  }
  assembler_->hand_over();
  if (assembler_->graphs_need_nodes()) tracer->graphs().need_nodes();
  if (assembler_->progress() != progress_seen_) {
    progress_seen_ = assembler_->progress();
    last_progress_ = monotonic_ns();
  }
  tracer->pool().keep_ready(buffers_ready);
  return filled.size() == buffers_at_once;
}

/// Passes on what waited for its launch or for other records of its graph.
void drain::settle() {
  auto const moment = now();
  assembler_->clock_is_at(moment);
  // Records of a launch come with a flush after it, which may miss those that CUPTI still writes:
  // a second flush has these. Where records may be missing all the same, work waits longer.
  auto const until_flushed = std::max(ns_per_second, 3 * options_.flush_interval_ms * ns_per_ms);
  auto const seldom = [](std::uint64_t moment_ns) -> timestamp_ns {
    return {moment_ns - moment_ns % settle_graphs_every};
  };
  auto const flushed_twice = std::min(flush_before_last_.value, moment.value - min_graph_wait);
  assembler_->settle_pending({moment.value - max_return},
                             {seldom(moment.value - until_flushed),
                              seldom(assembler_->launches_seen_until({flushed_twice}).value)});
}

void drain::tell_of_lost_grids() {
  static std::atomic<bool> told{false};
  if (decoder_->losses().kernels_without_grid == 0 || !first_time(told)) return;
  log_warning("kernels were launched in more than " +
              readable_count(shape_table::default_max_whole) +
              " different shapes. From now on new shapes have no grid and block in the capture; "
              "names and times are recorded as before.");
}

/// Runs `act` on the side thread. Meanwhile this thread takes all that arrives, because CUPTI may
/// deliver more than fits at once and may wait for other threads.
void drain::do_beside(std::function<void()> act) {
  if (assembler_ == nullptr) return act();  // nothing can arrive
  std::exception_ptr failure;
  side_.begin(std::move(act));
  while (!side_.wait_for_end(look_for_buffers_every)) {
    if (failure) continue;  // `act` refers to the caller's objects: must not return before it ends
    try {
      take_windows();
      assembler_->windows_are_known();
      while (take_some_buffers()) {
      }
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

// Everything that CUPTI delivers is decoded immediately: its name pointers are valid only until
// CUPTI is left or their code is unloaded.
void drain::fetch(bool forced) {
  take_windows();
  if (assembler_ == nullptr) return;
  assembler_->windows_are_known();
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  auto const before = progress_seen_;
  auto const began = now().value;
  bool flushed = tracer == nullptr;
  if (tracer != nullptr) do_beside([&] { flushed = tracer->flush(forced); });
  while (take_some_buffers()) {
  }
  if (flushed) flush_before_last_ = std::exchange(last_flush_, timestamp_ns{began});
  settle();
  quiet_ = flushed && progress_seen_ == before;
  if (!flushed || options_.metrics.mode == metrics_mode::none) return;
  complete_until_ =
      forced ? nothing_follows : assembler_->complete_until({began - max_expected_kernel});
}

/// Releases memory of threads that have ended, and buffers that were not used for a while.
void drain::release_memory() {
  auto const moment = monotonic_ns();
  if (moment - released_at_ < release_every) return;
  released_at_ = moment;
  release_ended_logs();
  if (auto* const tracer = tracer_.load(std::memory_order_acquire))
    tracer->pool().release_idle(buffers_ready);
}

void drain::round(bool flush) {
  release_memory();
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  if (flush && (tracer == nullptr || tracer->may_flush_at_any_time())) {
    fetch(false);
  } else {
    take_windows();
    if (assembler_ == nullptr) return;
    assembler_->windows_are_known();
    if (take_some_buffers()) wake_drain();
  }
  if (assembler_ == nullptr) return;
  ask_gpus();
  if (flush) flush_file();
  look_at_disk();
}

void drain::last_round() noexcept {
  attempt([this] { fetch(true); });
  if (assembler_ == nullptr) return;
  finish_counters(counter_worker::ending::capture);
  attempt([this] {
    take_some_buffers();  // again, for records that waited for their launch
    assembler_->settle_pending();
    assembler_->hand_over();
  });
  if (!assembler_->window_open()) written_off_ = assembler_->outstanding();
  flush_file(true);
}

void drain::finish_counters(counter_worker::ending what) noexcept {
  auto* const worker = counting_.load(std::memory_order_acquire);
  if (worker == nullptr) return;
  attempt([&] { do_beside([&] { worker->finish(what, options_.flush_timeout_ms); }); });
}

/// CUPTI returns a buffer when all its records have their times. The records of a graph's kernels
/// can be in several buffers, and the last ones may have no times yet. If these were returned by
/// force, they would never get times.
bool drain::graphs_may_owe() const noexcept {
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  return tracer != nullptr && assembler_->counts().graph_launches != 0 && tracer->pool().out() != 0;
}

bool drain::at_rest(std::uint64_t patience_ns) const noexcept {
  if (assembler_ == nullptr) return true;
  if (assembler_->window_open()) return false;
  auto const waited = monotonic_ns() - std::max(closed_at_, last_progress_);
  if (waited > patience_ns) return true;
  if (assembler_->outstanding() != written_off_) return false;
  if (!quiet_) return false;
  // Some copy calls (host to host) never have a record, so they are not waited for long.
  auto const may_owe = assembler_->copies_outstanding() != 0 || graphs_may_owe();
  return !may_owe || waited > patience_for_late_records;
}

void drain::take_counters() {
  auto* const worker = counting_.load(std::memory_order_acquire);
  if (worker == nullptr) return;
  auto const results = worker->take();
  output_.write_names();
  for (auto const& metric : results.metrics) records_.add(metric);
  for (auto const& reading : results.launches) records_.add(reading);
  records_.add(results.sampling);
  for (auto const& hold : results.holds) records_.add(hold);
  for (auto const& pause : results.pauses) records_.add(pause);
}

void drain::take_code() {
  auto const* const inventory = code_.load(std::memory_order_acquire);
  if (inventory == nullptr) return;
  auto const rows = code_rows_.fresh(*inventory, assembler_->kernel_names(),
                                     [](name_id id) { return names().text(id); });
  for (auto const& row : rows) records_.add(row);
}

void drain::take_source() {
  if (options_.source == source_storing::none) return;
  std::map<name_id, std::vector<source_place>> places;
  for (auto const& place : assembler_->take_new_places()) places[place.file].push_back(place);
  std::vector<source_line> lines;
  for (auto const& [file, of_file] : places) {
    auto const path = std::string(text_of(file));
    if (is_own_by_default(path) && path.starts_with('/'))
      do_beside([&, &of = of_file] {
        for (auto& line : read_source_lines(path, of, made_)) lines.push_back(std::move(line));
      });
  }
  std::vector<source_line_record> rows;
  for (auto const& [place, text] : lines)
    rows.push_back({place.file, place.line, names().intern(text)});
  output_.write_names();
  for (auto const& row : rows) records_.add(row);
}

void drain::take_binaries() {
  std::vector<binary_record> rows;
  for (auto const number : assembler_->take_new_binaries()) {
    auto const& one = binaries().at(number);
    std::string build_id;
    for (auto const byte : std::span(one.build_id).first(one.build_id_size)) {
      constexpr std::string_view digits = "0123456789abcdef";
      build_id += digits[byte >> 4];
      build_id += digits[byte & 15];
    }
    rows.push_back({static_cast<binary_id>(number), names().intern(one.path),
                    names().intern(build_id), one.load_address});
  }
  output_.write_names();
  for (auto const& row : rows) records_.add(row);
}

/// Beside, because a thread of the program may be loading libraries for long.
void drain::prepare_native_stacks() {
  constexpr std::uint64_t ticks = 1'000'000'000;
  if (auto const ns = look_at_tick_line().to_ns(ticks); ns != 0)
    native_stacks_have_ticks(ticks * ns_per_second / ns);
  // At exit the loader may hold its lock while it waits for this thread.
  if (unwinder_is_wanted() && !process_is_exiting()) do_beside(load_unwinder);
}

/// Postponed as long as possible while the program has few descriptors left.
void drain::describe_gpus(bool is_last) {
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  if (tracer == nullptr || decoder_ == nullptr || decoder_->records() == 0) return;
  if (!output_.wants_gpus() || (!is_last && descriptors_are_scarce())) return;
  gpu_rows rows;
  do_beside([&] { rows = read_gpus(*tracer); });
  output_.add(rows.facts);
  for (auto const& device : rows.devices) records_.add(device);
  for (auto const& peak : rows.peaks) records_.add(peak);
}

/// Asks NVML for the current state of the GPUs in use.
void drain::ask_gpus() {
  if (!assembler_->window_open()) return;
  auto const due = asking_.due(monotonic_ns());
  if (due.empty()) return;
  std::vector<chip_state_record> rows;
  do_beside([&] { rows = gpus_.read(due); });
  for (auto const& row : rows) records_.add(row);
}

/// If the file is on another machine, the answer may take long.
void drain::look_at_disk() {
  if (!assembler_->window_open() || !output_.wants_space()) return;
  std::optional<capture::disk_space> space;
  do_beside([&] { space = output_.file()->space(); });
  if (space) output_.judge(*space);
}

void drain::flush_file(bool is_last) noexcept {
  attempt([this] { take_counters(); });
  attempt([this] { take_code(); });
  attempt([this] { take_source(); });
  attempt([this] { take_binaries(); });
  if (!is_last) attempt([this] { prepare_native_stacks(); });
  attempt([this, is_last] { describe_gpus(is_last); });
  attempt([this] { gather_counters(); });
  attempt([this] {
    output_.flush(counters());
    written_until_.store(complete_until_.value);
  });
}

// Gives running kernels time to end and takes their records. Stops if nothing has arrived for a
// while, or if the next capture begins.
void drain::wait_for_the_gpu(std::uint64_t patience_ns) {
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  auto const deadline = monotonic_ns() + options_.flush_timeout_ms * ns_per_ms;
  auto const was_open = assembler_ != nullptr && assembler_->window_open();
  auto const next_has_begun = [&] {
    return !was_open && assembler_ != nullptr && assembler_->window_open();
  };
  fetch(false);
  while (tracer != nullptr && !at_rest(patience_ns) && !next_has_begun() &&
         monotonic_ns() < deadline) {
    wait_for_wake(std::chrono::milliseconds(2));
    fetch(false);
  }
}

bool drain::serve_requests() noexcept {
  auto const wanted = requests_.open();
  if (!wanted.flush && !wanted.finish) return false;
  attempt([this] { take_windows(); });  // the end of a capture may have come just before
  if (wanted.finish) {
    attempt([this] { wait_for_the_gpu(patience_at_exit); });
    finish_counters(counter_worker::ending::process);
    last_round();
    output_.close();
    attempt([this] { say_what_was_written(); });
  } else if (assembler_ != nullptr && !assembler_->window_open()) {
    // gpuprof_stop(): write everything of the capture, but leave time to write it before the
    // caller's timeout.
    attempt([this] { wait_for_the_gpu(options_.flush_timeout_ms * ns_per_ms / 2); });
    attempt([this] {  // no more work of graphs will come
      assembler_->settle_pending({now().value - max_return}, {nothing_follows});
    });
    attempt([this] { round(true); });
  } else {
    attempt([this] { round(true); });
  }
  requests_.done(wanted);
  return wanted.finish;
}

bool drain::flush_and_wait(std::uint32_t timeout_ms) {
  return requests_.flush_and_wait(std::chrono::milliseconds(timeout_ms), wake_drain);
}

bool drain::finish_and_wait(std::uint32_t timeout_ms) {
  return requests_.finish_and_wait(std::chrono::milliseconds(timeout_ms), wake_drain);
}

}  // namespace gpuprof::guest

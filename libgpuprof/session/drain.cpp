#include "session/drain.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "collect/nvtx_ranges.hpp"

#include <algorithm>
#include <chrono>
#include <time.h>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::uint64_t second = 1'000'000'000;
// At the end of the process: after this long without a record none is expected any more. A program
// that exits with kernels in flight does not want to wait for them.
constexpr std::uint64_t patience_at_exit = second / 4;
constexpr std::uint64_t patience_for_copies = second / 10;
constexpr std::size_t buffers_at_once = 16;
// Work that began just before a flush may not have ended, and has no record then.
constexpr std::uint64_t longest_expected_kernel = second / 50;
constexpr timestamp_ns nothing_follows{~std::uint64_t{0}};

std::unique_ptr<live_metrics> achieved_if_counted(
    settings const& wishes, std::function<std::string_view(name_id)> const& text) {
  auto const mode = wishes.metrics.mode;
  if (mode == metrics_mode::none) return nullptr;
  live_metrics::capacity limits;
  if (mode == metrics_mode::exact) limits.samples.work = 0;  // nothing is sampled in time
  return std::make_unique<live_metrics>(text, limits);
}

}  // namespace

drain::drain(settings const& wishes, memory_budget& budget, kernel_filter const& filter,
             app_costs const& costs)
    : wishes_(wishes),
      filter_(filter),
      costs_(costs),
      budget_(budget),
      totals_([this](name_id id) { return text_of(id); }),
      achieved_(achieved_if_counted(wishes, [this](name_id id) { return text_of(id); })),
      output_(wishes) {}

/// Asked by the drain thread alone, and copied by the asker.
std::string_view drain::text_of(name_id id) {
  return asked_text_ = names().text(id);
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
  assembler_ = std::make_unique<trace_assembler>(
      output_.open(), totals_, names(),
      filter_.has_names() ? trace_assembler::kernel_choice(
                                [this](std::string_view n) { return filter_.name_matches(n); })
                          : nullptr,
      achieved_.get());
  assembler_->ignore_thread(os_thread_id());
}

void drain::take_windows() {
  std::deque<window_event> events;
  {
    std::lock_guard const lock(mutex_);
    events.swap(events_);
  }
  for (auto const& event : events) {
    if (event.opened) {
      make_assembler();
      assembler_->open_window({event.index, event.time, {}, names().intern(event.trigger)});
      for (auto const& range : claim_started_ranges()) assembler_->begin(range);
    } else if (assembler_ != nullptr) {
      assembler_->close_window(event.time);
      closed_at_ = last_progress_ = monotonic_ns();
      quiet_ = false;
    }
  }
}

/// False when there is nothing more to take.
bool drain::take_some_buffers() {
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  if (tracer == nullptr) {
    output_.write_names();
    drain_all_logs(*assembler_);
    return false;
  }
  if (counting_.load(std::memory_order_acquire) != nullptr) assembler_->counters_are_read();
  if (decoder_ == nullptr) {
    decoder_ = std::make_unique<activity_decoder>(tracer->library().api, tracer->library().version,
                                                  names(), *assembler_);
    assembler_->tell_arguments_apart([this](shape_id known, std::uint32_t arguments) {
      return decoder_->shape_for(known, arguments);
    });
  }
  // Buffers first, then rings: so the launch of every record in these buffers is known, but for
  // calls that have not returned yet.
  std::vector<filled_buffer> filled;
  while (filled.size() < buffers_at_once) {
    auto const buffer = tracer->next_filled();
    if (!buffer) break;
    filled.push_back(*buffer);
  }
  output_.write_names();
  drain_all_logs(*assembler_);
  assembler_->settle_pending();
  for (auto const& f : filled) {
    decoder_->decode({f.buffer.bytes, f.used});
    output_.write_names();
    tracer->pool().give_back(f.buffer, f.used);
    drain_all_logs(*assembler_);  // decoding takes milliseconds, rings hold tens of them
  }
  assembler_->hand_over();
  if (assembler_->progress() != progress_seen_) {
    progress_seen_ = assembler_->progress();
    last_progress_ = monotonic_ns();
  }
  tracer->pool().keep_ready(4);
  return filled.size() == buffers_at_once;
}

// Everything CUPTI hands over now is decoded now: its name pointers are good until CUPTI is left.
void drain::fetch(bool forced) {
  take_windows();
  if (assembler_ == nullptr) return;
  assembler_->windows_are_known();
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  if (tracer != nullptr && pointers_stale_.exchange(false) && decoder_ != nullptr) {
    decoder_->forget_pointers();
  }
  auto const before = progress_seen_;
  auto const began = now().value;
  auto const flushed = tracer == nullptr || tracer->flush(forced);
  while (take_some_buffers()) {
  }
  quiet_ = flushed && progress_seen_ == before;
  if (!flushed || achieved_ == nullptr) return;
  complete_until_ =
      forced ? nothing_follows : assembler_->complete_until({began - longest_expected_kernel});
}

void drain::round(bool flush) {
  if (flush) {
    fetch(false);
    if (assembler_ != nullptr) flush_file();
    return;
  }
  take_windows();
  if (assembler_ == nullptr) return;
  assembler_->windows_are_known();
  if (take_some_buffers()) wake_drain();
}

void drain::last_round() {
  fetch(true);
  if (assembler_ == nullptr) return;
  if (auto* const worker = counting_.load(std::memory_order_acquire))
    worker->finish(counter_worker::ending::capture, wishes_.flush_timeout_ms);
  take_some_buffers();  // once more for records that waited for their launch
  assembler_->settle_pending();
  assembler_->hand_over();
  if (!assembler_->window_open()) written_off_ = assembler_->outstanding();
  flush_file();
}

bool drain::at_rest(std::uint64_t patience_ns) const noexcept {
  if (assembler_ == nullptr) return true;
  if (assembler_->window_open()) return false;
  auto const waited = monotonic_ns() - std::max(closed_at_, last_progress_);
  if (waited > patience_ns) return true;
  if (assembler_->outstanding() != written_off_) return false;
  // Some copy calls (host to host) never have a record: those are not waited for long.
  return quiet_ && (assembler_->copies_outstanding() == 0 || waited > patience_for_copies);
}

void drain::take_counters() {
  auto* const worker = counting_.load(std::memory_order_acquire);
  if (worker == nullptr) return;
  auto const harvest = worker->take();
  output_.write_names();
  for (auto const& metric : harvest.metrics) assembler_->metric(metric);
  for (auto const& launch : harvest.launches) assembler_->sampled(launch);
  assembler_->sampled(harvest.sampling);
}

void drain::describe_gpus() {
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  if (tracer == nullptr || decoder_ == nullptr || decoder_->records() == 0) return;
  auto const rows = output_.describe_gpus(*tracer);
  if (achieved_ == nullptr) return;
  for (auto const& device : rows.devices) achieved_->describe(device);
  for (auto const& peak : rows.peaks) achieved_->describe(peak);
}

void drain::flush_file() {
  take_counters();
  describe_gpus();
  judge_counters();
  count_everything();
  output_.flush(counters());
}

void drain::judge_counters() {
  if (achieved_ == nullptr) return;
  auto const lost = records_lost();
  if (lost != std::exchange(records_lost_, lost)) achieved_->lose_records();
  achieved_->judge(complete_until_);
}

/// Of GPU work: what is known while the program runs of what reports look at.
std::uint64_t drain::records_lost() const {
  auto const& seen = assembler_->counts();
  auto lost = seen.launches_given_up + seen.kernels_without_time + assembler_->launches_forgotten();
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next)
    lost += log->counters.dropped_launches.load(std::memory_order_relaxed);
  if (decoder_ != nullptr) {
    auto const& broken = decoder_->losses();
    lost += broken.others_without_time + broken.broken_buffers + broken.unknown_kinds;
  }
  if (auto* const tracer = tracer_.load(std::memory_order_acquire))
    lost += tracer->dropped() + tracer->pool().refusals() + tracer->buffers_lost();
  return lost;
}

void drain::count_everything() {
  named_counters all;
  auto const put = [&all](char const* name, std::uint64_t value) { all.emplace_back(name, value); };
  auto const& seen = assembler_->counts();
  put("seen.launches", seen.launches);
  put("seen.graph_launches", seen.graph_launches);
  put("seen.kernels", seen.kernels);
  put("seen.kernels_filtered", seen.kernels_filtered);
  put("seen.kernels_unattributed", seen.kernels_unattributed);

  std::uint64_t dropped_launches = 0, dropped_ranges = 0, unmatched_pops = 0;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next) {
    dropped_launches += log->counters.dropped_launches.load(std::memory_order_relaxed);
    dropped_ranges += log->counters.dropped_ranges.load(std::memory_order_relaxed);
    unmatched_pops += log->counters.unmatched_pops.load(std::memory_order_relaxed);
  }
  put("note.records_outside_captures", seen.outside);
  put("note.launches_not_waited_for", seen.launches_given_up);
  auto const open = assembler_->window_open();  // launches still under way are no loss
  put("lost.kernels", open ? 0 : seen.launches - seen.launches_matched);
  put("lost.graph_launches", open ? 0 : seen.graph_launches - seen.graph_launches_matched);
  if (decoder_ != nullptr) {
    put("lost.kernels_without_time", seen.kernels_without_time);
    put("lost.other_records_without_time", decoder_->losses().others_without_time);
    put("lost.broken_buffers", decoder_->losses().broken_buffers);
    put("lost.records_of_unknown_kind", decoder_->losses().unknown_kinds);
    put("lost.shapes", decoder_->shapes_refused());
  }
  if (auto* const tracer = tracer_.load(std::memory_order_acquire)) {
    put("lost.records_dropped_by_cupti", tracer->dropped());
    put("lost.buffers_refused", tracer->pool().refusals());
    put("lost.buffers", tracer->buffers_lost());
    put("note.foreign_buffers", tracer->foreign_buffers());
  }
  put("lost.launch_notes", dropped_launches + assembler_->launches_forgotten());
  put("lost.ranges", dropped_ranges + forgotten_ranges());
  put("lost.names", names().refused());
  put("lost.threads", threads_without_log());
  if (output_.file() != nullptr) put("lost.rows_on_disk", output_.file()->rows_lost());
  put("note.unmatched_pops", unmatched_pops);

  if (auto* const worker = counting_.load(std::memory_order_acquire)) {
    auto const& counts = worker->engines().launch_counts();
    auto const put_count = [&](char const* name, std::atomic<std::uint64_t> const& count) {
      put(name, count.load(std::memory_order_relaxed));
    };
    put_count("counters.launches_read", counts.sampled);
    put_count("counters.failed", counts.failed);
    put_count("counters.missed", counts.missed);
    put_count("counters.unrecorded", counts.unrecorded);
    put_count("counters.not_rewritten", counts.not_rewritten);
    put_count("counters.skipped_busy", counts.busy);
    put_count("counters.abandoned", counts.abandoned);
    put_count("counters.skipped_cooperative", counts.cooperative);
    put_count("counters.skipped_by_name", counts.by_name);
    put_count("counters.skipped_while_capturing", counts.capturing);
    put_count("counters.skipped_graphs", counts.graphs);
    put_count("counters.skipped_beside_those", counts.beside_skipped);
    put_count("counters.skipped_in_use", counts.in_use);
    put_count("counters.skipped_over_budget", counts.over_budget);
    put_count("counters.skipped_unknown", counts.unknown);
    auto const kinds = worker->engines().launch_kinds();
    put("counters.kinds", kinds.kinds);
    put("counters.kinds_unread", kinds.unread);
    put("counters.kinds_partly_read", kinds.partly);
    auto const& windows = worker->engines().window_counts();
    put_count("counters.sampling_windows", windows.windows);
    put_count("counters.samples", windows.samples);
    put_count("counters.sampling_refused", windows.busy);
    put_count("lost.sampling_overflows", windows.overflows);
    put("cost.counters_ns", worker->engines().budget().spent());
    put("cost.sampling_ns", worker->engines().budget().spent_on_sampling());
  }
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  put("cost.start_ns", costs_.start_ns.load(std::memory_order_relaxed));
  put("cost.leave_ns", costs_.leave_ns.load(std::memory_order_relaxed));
  put("cost.drain_cpu_ns",
      static_cast<std::uint64_t>(cpu.tv_sec) * second + static_cast<std::uint64_t>(cpu.tv_nsec));
  put("memory.buffers_bytes", budget_.used());
  put("memory.launch_table_bytes", assembler_->table_bytes());

  std::lock_guard const lock(mutex_);
  counters_ = std::move(all);
}

// Gives running kernels a moment to end, and takes what comes; stops when nothing has come for a
// while.
void drain::wait_for_the_gpu(std::uint64_t patience_ns) {
  auto* const tracer = tracer_.load(std::memory_order_acquire);
  auto const deadline = monotonic_ns() + wishes_.flush_timeout_ms * (second / 1000);
  fetch(false);
  while (tracer != nullptr && !at_rest(patience_ns) && monotonic_ns() < deadline) {
    wait_for_wake(std::chrono::milliseconds(2));
    fetch(false);
  }
}

bool drain::serve_requests() {
  std::uint64_t flush_wanted = 0;
  bool flush = false, finish = false;
  {
    std::lock_guard const lock(mutex_);
    flush_wanted = flush_wanted_;
    flush = flush_wanted_ != flush_done_;
    finish = finish_wanted_;
  }
  if (!flush && !finish) return false;
  if (finish) {
    wait_for_the_gpu(patience_at_exit);
    if (auto* const worker = counting_.load(std::memory_order_acquire))
      worker->finish(counter_worker::ending::process, wishes_.flush_timeout_ms);
    last_round();
    output_.close();
    say_what_was_written();
  } else if (assembler_ != nullptr && !assembler_->window_open()) {
    // gpuprof_stop(): all the capture saw, but with time left to write it before the caller gives
    // up.
    wait_for_the_gpu(wishes_.flush_timeout_ms * (second / 1000) / 2);
    round(true);
  } else {
    round(true);
  }
  {
    std::lock_guard const lock(mutex_);
    flush_done_ = flush_wanted;
    finish_done_ = finish;
  }
  served_.notify_all();
  return finish;
}

void drain::say_what_was_written() {
  if (output_.file() == nullptr) return;
  auto const& seen = assembler_->counts();
  auto line = std::to_string(seen.kernels) + " kernels, " +
              (seen.graphs != 0 ? std::to_string(seen.graphs) + " graphs, " : std::string()) +
              std::to_string(seen.copies + seen.sets) + " copies and fills, " +
              std::to_string(seen.ranges) + " ranges in " + output_.path() + " (" +
              output_.size_text() + ")";
  if (auto const lost = seen.launches - seen.launches_matched; lost != 0) {
    line += "; " + std::to_string(lost) + " launches without a record";
  }
  log_info(line);
}

bool drain::flush_and_wait(std::uint32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  auto const mine = ++flush_wanted_;
  lock.unlock();
  wake_drain();
  lock.lock();
  return served_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                          [&] { return flush_done_ >= mine || finish_done_; });
}

bool drain::finish_and_wait(std::uint32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  finish_wanted_ = true;
  lock.unlock();
  wake_drain();
  lock.lock();
  return served_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                          [&] { return finish_done_; });
}

}  // namespace gpuprof

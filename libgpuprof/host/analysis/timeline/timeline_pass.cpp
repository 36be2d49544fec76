// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/timeline_pass.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace gpuprof::host {
namespace {

/// Added at both ends: opening a reading waits for an idle GPU, and closing it takes time too.
constexpr std::uint64_t around_reading_ns = 1'000'000;
constexpr std::size_t readings_kept = 64;
// A call is entered shortly before it waits.
constexpr std::uint64_t before_hold_ns = 100'000;
constexpr std::size_t profiler_holds_kept = 1024;
constexpr std::size_t copies_kept = 1 << 20;
/// The first 1/10 of the window is warm-up: libraries load, pools grow, algorithms are tried.
constexpr std::uint64_t warm_up_divisor = 10;
constexpr std::uint64_t result_bytes = 64;       // upper limit of a copy made by `.item()`
constexpr std::int64_t read_within_ns = 20'000;  // between the copy and the wait of `.item()`
constexpr std::size_t holds_kept = 4096;         // more than the launches in a GPU's queue

double length(timestamp_ns from, timestamp_ns to) noexcept {
  return to > from ? static_cast<double>((to - from).value) : 0;
}

std::uint64_t stream_key(gpu_item const& item) noexcept {
  return (std::uint64_t{raw(item.context)} << 32) | raw(item.stream);
}

bool is_pageable(transfer_key const& key) noexcept {
  return key.source == memory_kind::pageable || key.destination == memory_kind::pageable;
}

/// True for cudaMemcpyAsync to pageable memory too: "For transfers from device memory to pageable
/// host memory, the function will return only once the copy has completed" (CUDA Runtime API, API
/// synchronization behavior).
bool waits_though_asynchronous(transfer_key const& key) noexcept {
  return key.asynchronous && key.kind == copy_kind::device_to_host &&
         key.destination == memory_kind::pageable;
}

bool holds_thread(call_kind kind) noexcept {
  return kind != call_kind::other && kind != call_kind::launch;
}

}  // namespace

timeline_pass::timeline_pass(timeline_inputs inputs)
    : in_(std::move(inputs)),
      thread_ranges_(*in_.ranges, in_.main_thread),
      ledger_(*in_.ranges, in_.steps->step_of_range),
      serialized_(in_.fits_beside) {
  if (in_.steps->instances.size() > 1) warm_until_ = (*in_.ranges)[in_.steps->instances[1]].begin;
}

void timeline_pass::begin_window(timestamp_ns begin, timestamp_ns end) {
  end_window();
  if (begin_ < end_) past_windows_.emplace_back(begin_, end_);
  begin_ = begin;
  end_ = end;
  if (warm_until_.value == 0) {
    auto const [from, to] = in_.phase.empty() ? time_stretch{begin, end} : in_.phase.front();
    warm_until_ = from;
    if (in_.has_warm_up)
      warm_until_ =
          std::max(in_.tenth_launched, {from.value + (to.value - from.value) / warm_up_divisor});
  }
  windows_ns_ += counted(begin, end);
  for (auto& [_, one] : devices_) {
    one.sweep = device_sweep(begin_, end_);
    one.windows_ns += counted(begin, end);
  }
}

timeline_pass::of_device& timeline_pass::device(device_id id) {
  auto const known = devices_.find(id);
  if (known != devices_.end()) return known->second;
  auto& made = devices_
                   .try_emplace(id, of_device{.sweep = device_sweep(begin_, end_),
                                              .previous = {},
                                              .windows_ns = counted(begin_, end_),
                                              .has_counted_work = in_.phase.empty(),
                                              .held = {},
                                              .readings = {}})
                   .first->second;
  // finish() adds these windows to the ledger.
  if (in_.on_idle)
    for (auto const& [begin, end] : past_windows_)
      in_.on_idle(id, time_bucket::start_up, begin, end);
  return made;
}

void timeline_pass::add(gpu_item const& item) {
  auto& of = device(item.device);
  of.sweep.add(item, [&](auto const& settled) { settle(item.device, settled); });
  note_followed(of, item);
  if (counts(item.start)) ++items_;
  if (item.range < in_.steps->step_of_range.size() &&
      in_.steps->step_of_range[item.range] != no_step)
    ++steps_.items;
  if (item.launched.value != 0) {
    auto& thread = threads_[item.thread];
    thread.last_launch = std::max(thread.last_launch, item.launched);
    if (counts(item.launched)) ++thread.launches;
  }
}

void timeline_pass::add_kernel(gpu_item const& kernel) {
  add(kernel);
  if (!counts(kernel.start)) return;
  sequences_.add(kernel, comes_after_hold(kernel));
  last_on_stream_.erase(stream_key(kernel));
  if (kernel.kind == item_kind::compute)
    serialized_.add(kernel, key_of_range(kernel.range), in_.run);
}

/// Returns true if the thread was held, or did something else, between launching the previous
/// kernel of the stream and this one. Compares launches, because the last kernels before a wait
/// start after the wait has begun.
bool timeline_pass::comes_after_hold(gpu_item const& kernel) {
  auto const launched = kernel.launched.value != 0 ? kernel.launched : kernel.start;
  auto const before = std::exchange(last_launch_into_[stream_key(kernel)], launched);
  auto const& holds = threads_[kernel.thread].holds;
  auto const next = std::upper_bound(holds.begin(), holds.end(), launched);
  auto const was_held = next != holds.begin() && *std::prev(next) > before;
  return was_held || (before.value != 0 && length(before, launched) > own_work_ns);
}

void timeline_pass::note_hold(thread_index thread, timestamp_ns begin) {
  auto& holds = threads_[thread].holds;
  if (holds.size() == holds_kept) holds.pop_front();
  holds.push_back(holds.empty() ? begin : std::max(begin, holds.back()));
}

/// Adds a wait. Waits may be nested, and no time counts twice.
void timeline_pass::note_wait(thread_index thread, timestamp_ns begin, timestamp_ns end,
                              std::uint32_t range) {
  auto& of = threads_[thread];
  auto const ns = length(std::max(begin, of.waited_until), end);
  of.waited_until = std::max(of.waited_until, end);
  if (counts(begin)) of.waiting_ns += ns;
  // Only for the thread that has the steps: another thread may wait all the time.
  if (range < in_.steps->step_of_range.size() && in_.steps->step_of_range[range] != no_step &&
      (*in_.ranges)[range].thread == thread)
    steps_.waiting_ns += ns;
}

/// Records the wait of an asynchronous copy that blocks. Its call is not in the capture if only
/// blocking calls, selected by name, are recorded.
void timeline_pass::note_waiting_copy(gpu_item const& copy) {
  // without calls all waits are unknown
  if (copy.launched.value == 0 || !in_.calls_recorded) return;
  recent_.add(copy.thread, {.begin = copy.launched,
                            .end = copy.end,
                            .name = {},
                            .kind = call_kind::blocking_copy,
                            .copies = true});
  note_wait(copy.thread, copy.launched, copy.end, copy.range);
}

bool timeline_pass::is_warm_up(gpu_item const& item) const noexcept {
  return (item.launched.value != 0 ? item.launched : item.start) < warm_until_;
}

void timeline_pass::add_transfer(gpu_item item, transfer_key key, std::uint64_t bytes) {
  if (counts(item.start)) note_transfer(item, key, bytes);
  if (is_pageable(key))
    note_hold(item.thread, item.launched.value != 0 ? item.launched : item.start);
  add(item);
  if (waits_though_asynchronous(key)) note_waiting_copy(item);
  if (key.kind != copy_kind::device_to_host || bytes > result_bytes) return;
  threads_[item.thread].last_small_read = item.launched;
  threads_[item.thread].small_read_end = item.end;
}

/// Adds it to the table, and sets its line there.
void timeline_pass::note_transfer(gpu_item& item, transfer_key key, std::uint64_t bytes) {
  key.in_warm_up = is_warm_up(item);
  auto const [at, is_new] =
      transfer_index_.try_emplace(key, static_cast<std::uint32_t>(transfers_.size()));
  if (is_new) transfers_.push_back({key, {}});
  item.subject = at->second;
  auto& of = transfers_[at->second].second;
  ++of.count;
  of.bytes += bytes;
  if (bytes > 0) {
    auto const ns_of_mib =
        static_cast<double>(nanoseconds_of(item)) * 0x1p20 / static_cast<double>(bytes);
    // may be huge in damaged files
    of.ns_of_mib.add(static_cast<std::uint64_t>(std::min(ns_of_mib, 0x1p62)));
  }
  auto const [last, is_first] = last_on_stream_.try_emplace(stream_key(item), item.subject);
  of.in_a_row += !is_first && last->second == item.subject;
  last->second = item.subject;
  if (auto const call = copying_calls_.find(raw(item.correlation)); call != copying_calls_.end()) {
    of.blocked_ns += call->second;
    copying_calls_.erase(call);
  }
}

void timeline_pass::add_call(thread_index thread, host_call const& call,
                             correlation_id correlation) {
  if (call.kind == call_kind::other || recent_.lies_in_one_of_its_kind(thread, call)) return;
  recent_.add(thread, call);
  auto const ns = length(call.begin, call.end);
  if (call.copies) {
    if (copying_calls_.size() > copies_kept) copying_calls_.clear();  // no copies fetched them
    copying_calls_[raw(correlation)] = ns;
  }
  if (!holds_thread(call.kind)) return;
  note_hold(thread, call.begin);
  auto const range = thread_ranges_.innermost(thread, call.begin);
  if (is_wait(call.kind)) note_wait(thread, call.begin, call.end, range);
  if (!counts(call.begin)) return;
  auto& sum = calls_[{call.name, key_of_range(range)}];
  sum.kind = call.kind;
  ++sum.count;
  sum.ns += ns;
  if (call.begin >= warm_until_) {
    ++sum.after_warm_up;
    sum.after_warm_up_ns += ns;
  }
}

void timeline_pass::add_reading(device_id id, timestamp_ns opened, timestamp_ns closed) {
  auto& readings = device(id).readings;
  if (readings.size() == readings_kept) readings.pop_front();
  readings.push_back({{opened.value - around_reading_ns}, {closed.value + around_reading_ns}});
}

void timeline_pass::add_hold(timestamp_ns begin, timestamp_ns end) {
  if (profiler_holds_.size() == profiler_holds_kept) profiler_holds_.pop_front();
  profiler_holds_.push_back({begin, end});
}

void timeline_pass::add_migration(timestamp_ns begin, timestamp_ns end) {
  migration_ns_ += length(begin, end);
  migrations_.emplace_back(begin, end);
}

void timeline_pass::finish() {
  end_window();
  for (auto const& [id, of] : devices_)
    if (of.has_counted_work && of.windows_ns < windows_ns_)
      ledger_.add(id, time_bucket::start_up, windows_ns_ - of.windows_ns, no_range);
  std::erase_if(kernels_, [](auto const& kernel) { return kernel.second.launches == 0; });
}

bool timeline_pass::counts(timestamp_ns moment) const noexcept {
  if (in_.phase.empty()) return true;
  auto const next =
      std::partition_point(in_.phase.begin(), in_.phase.end(),
                           [&](auto const& stretch) { return stretch.end <= moment; });
  return next != in_.phase.end() && next->begin <= moment;
}

double timeline_pass::counted(timestamp_ns from, timestamp_ns to) const noexcept {
  if (in_.phase.empty()) return length(from, to);
  double ns = 0;
  auto next = std::partition_point(in_.phase.begin(), in_.phase.end(),
                                   [&](auto const& stretch) { return stretch.end <= from; });
  for (; next != in_.phase.end() && next->begin < to; ++next)
    ns += length(std::max(from, next->begin), std::min(to, next->end));
  return ns;
}

/// A GPU without work in the phase is not in the ledger.
void timeline_pass::add_to_ledger(device_id id, time_bucket bucket, double ns,
                                  std::uint32_t range) {
  auto& of = devices_.at(id);
  if (ns <= 0 && !in_.phase.empty()) return;
  if (!of.has_counted_work && (is_idle(bucket) || bucket == time_bucket::profiler)) {
    of.held.push_back({bucket, ns, range});
    return;
  }
  of.has_counted_work = true;
  for (auto const& held : std::exchange(of.held, {}))
    ledger_.add(id, held.bucket, held.ns, held.range);
  ledger_.add(id, bucket, ns, range);
}

void timeline_pass::end_window() {
  for (auto& one : devices_)
    one.second.sweep.finish([&](auto const& settled) { settle(one.first, settled); });
}

void timeline_pass::settle(device_id id, busy_stretch const& stretch) {
  add_to_ledger(id, stretch.bucket, counted(stretch.begin, stretch.end), stretch.of.range);
  if (migrations_.empty()) return;
  std::erase_if(migrations_, [&](auto const& one) { return one.second <= stretch.begin; });
  if (stretch.bucket == time_bucket::transfer) return;
  for (auto const& [begin, end] : migrations_)
    migration_beside_ns_ += length(std::max(begin, stretch.begin), std::min(end, stretch.end));
}

void timeline_pass::settle(device_id id, ended_item const& ended) {
  auto const& item = ended.item;
  if (!counts(item.start)) {
    // Its next launch is not the first one.
    if (item.kind != item_kind::transfer && !item.is_copy) kernels_[kernel_key(id, item.subject)];
    return;
  }
  auto const ns = static_cast<double>(nanoseconds_of(item));
  auto const range = key_of_range(item.range);
  if (item.kind == item_kind::transfer || item.is_copy) {
    auto& of = transfers_[item.subject].second;
    of.total_ns += ns;
    of.alone_ns += ended.alone_ns;
    of.ranges.add(range, ns);
    return;
  }
  auto& of = kernels_[kernel_key(id, item.subject)];
  ++of.launches;
  of.total_ns += ns;
  of.alone_ns += ended.alone_ns;
  if (2 * ended.alone_ns >= ns) {
    ++of.alone_launches;
    of.alone_launches_ns += ns;
  }
  of.ranges.add(range, ns);
}

void timeline_pass::settle(device_id id, idle_gap const& gap) {
  if (gap.after == nullptr)
    return add_idle(id, time_bucket::nothing_to_do, gap.begin, gap.end, no_range);
  if (gap.is_first) return add_idle(id, time_bucket::start_up, gap.begin, gap.end, no_range);
  cut(devices_.at(id), gap);
  auto const last = std::find_if(parts_.rbegin(), parts_.rend(),
                                 [](gap_part const& part) { return !part.is_profilers; });
  for (auto const& part : parts_) {
    if (part.is_profilers)
      add_idle(id, time_bucket::profiler, part.begin, part.end, gap.after->range);
    else
      blame(id, part.begin, part.end, *gap.after,
            {.is_whole = parts_.size() == 1, .is_last = &part == &*last});
  }
}

/// Finds the times in which the profiler used the GPU, or held the call that launched the work that
/// ended the gap. Sorted by start; they may overlap, because time is added around readings.
void timeline_pass::find_profiler_times(of_device const& of, idle_gap const& gap) {
  profiler_times_.clear();
  auto const add = [&](time_stretch const& one) {
    if (one.end > gap.begin && one.begin < gap.end) profiler_times_.push_back(one);
  };
  for (auto const& reading : of.readings) add(reading);
  auto const launched = gap.after->launched;
  // Holds are for the whole process and do not overlap: most ended before this gap.
  auto hold = std::partition_point(profiler_holds_.begin(), profiler_holds_.end(),
                                   [&](auto const& one) { return one.end <= gap.begin; });
  for (; hold != profiler_holds_.end() && hold->begin < gap.end; ++hold) {
    auto const was_held =
        launched.value + before_hold_ns >= hold->begin.value && launched <= hold->end;
    if (was_held || launched.value == 0) add({std::max(hold->begin, launched), hold->end});
  }
  std::sort(profiler_times_.begin(), profiler_times_.end(),
            [](auto const& a, auto const& b) { return a.begin < b.begin; });
}

/// Divides a gap. Work that was already queued only waited for the profiler.
void timeline_pass::cut(of_device const& of, idle_gap const& gap) {
  find_profiler_times(of, gap);
  parts_.clear();
  auto at = gap.begin;
  auto const was_queued = [&] {
    return gap.after->launched.value != 0 && gap.after->launched < at;
  };
  auto const add = [&](timestamp_ns end, bool is_profilers) {
    if (at < end) parts_.push_back({at, end, is_profilers});
    at = std::max(at, end);
  };
  for (auto const& [from, to] : profiler_times_) {
    add(std::min(from, gap.end), was_queued());
    add(std::min(to, gap.end), true);
  }
  add(gap.end, at > gap.begin && was_queued());
}

void timeline_pass::add_idle(device_id id, time_bucket bucket, timestamp_ns begin, timestamp_ns end,
                             std::uint32_t range) {
  add_to_ledger(id, bucket, counted(begin, end), range);
  if (in_.on_idle) in_.on_idle(id, bucket, begin, end);
}

void timeline_pass::blame(device_id id, timestamp_ns begin, timestamp_ns end, gpu_item const& after,
                          gap_piece piece) {
  auto const cause = cause_of_gap(begin, end, after, thread_of(after, begin), in_.run);
  add_idle(id, cause.bucket, begin, end, after.range);
  recent_.forget_before(after.thread, begin);
  auto const ns = counted(begin, end);
  if (ns <= 0) return;
  if (in_.on_gap && !is_warm_up(after)) in_.on_gap(id, cause.bucket, after.thread, begin, end);
  gaps_.add({.cause = cause.bucket,
             .kind = cause.kind,
             .reads_result = reads_result(after, cause),
             .in_warm_up = is_warm_up(after),
             .before_graph = after.of_graph,
             .call = cause.call,
             .range = key_of_range(after.range),
             .device = id},
            ns, std::max(0.0, cause.sure_ns) * (ns / length(begin, end)), piece);
}

launching_thread timeline_pass::thread_of(gpu_item const& after, timestamp_ns begin) const {
  launching_thread thread{.calls = &recent_.of(after.thread), .previous_launch = {}};
  if (auto const* const known = threads_.find(after.thread))
    thread.previous_launch = known->last_launch;
  thread.calls_recorded = in_.calls_recorded;
  thread.is_first_of_kernel =
      !after.is_copy && !kernels_.contains(kernel_key(after.device, after.subject));
  if (after.launched <= begin) return thread;
  timestamp_ns const middle{begin.value + (after.launched.value - begin.value) / 2};
  auto const range = thread_ranges_.innermost(after.thread, middle);
  thread.is_between_steps = is_among_steps(middle) &&
                            (range == no_range || steps_of_run().step_of_range[range] == no_step);
  thread.loads_data = is_loading(range);
  return thread;
}

/// Returns true if this range, or one around it in the same step, loads data.
bool timeline_pass::is_loading(std::uint32_t range) const {
  if (!in_.loads_data) return false;
  auto const& steps = steps_of_run().instances;
  while (range != no_range) {
    if (in_.loads_data(key_of((*in_.ranges)[range]))) return true;
    range = (*in_.ranges)[range].around();
    if (std::binary_search(steps.begin(), steps.end(), range)) return false;
  }
  return false;
}

/// Returns false before the first and after the last step.
bool timeline_pass::is_among_steps(timestamp_ns moment) const {
  auto const& all = steps_of_run().instances;
  if (all.empty()) return false;
  return (*in_.ranges)[all.front()].begin < moment && moment < (*in_.ranges)[all.back()].end;
}

bool timeline_pass::reads_result(gpu_item const& after, gap_cause const& cause) const {
  if (cause.bucket != time_bucket::synchronization) return false;
  auto const* const read = threads_.find(after.thread);
  if (read == nullptr || read->last_small_read.value == 0) return false;
  for (auto const& call : recent_.of(after.thread)) {
    if (call.name != cause.call) continue;
    // The wait comes directly after the launch of the copy or, if the copy itself waits, after its
    // end.
    auto const since_launch = (call.begin - read->last_small_read).value;
    auto const since_end = (call.begin - read->small_read_end).value;
    if (std::min(std::abs(since_launch), std::abs(since_end)) < read_within_ns) return true;
  }
  return false;
}

void timeline_pass::note_followed(of_device& device, gpu_item const& next) {
  if (device.has_previous && device.previous.kind == item_kind::compute &&
      next.launched.value != 0 && counts(device.previous.start)) {
    auto const ready = next.launched.value + static_cast<std::uint64_t>(in_.run.start_delay);
    auto const slack = next.start.value > ready ? static_cast<double>(next.start.value - ready) : 0;
    kernels_[kernel_key(next.device, device.previous.subject)].followed_ns +=
        std::min(slack, static_cast<double>(nanoseconds_of(device.previous)));
  }
  device.previous = next;
  device.has_previous = true;
}

double timeline_pass::waiting_of_launcher() const {
  std::uint64_t most = 0;
  double ns = 0;
  for (auto const& [_, thread] : threads_)
    if (thread.launches > most) {
      most = thread.launches;
      ns = thread.waiting_ns;
    }
  return ns;
}

std::optional<range_key> timeline_pass::key_of_range(std::uint32_t range) const {
  if (range >= in_.ranges->size()) return std::nullopt;
  return key_of((*in_.ranges)[range]);
}

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
#include "host/import/capture_making.hpp"

#include "capture/writer.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuprof::host {
namespace {

/// Finds kernels that seem to run until several later ones of their stream have ended. Work on a
/// stream runs in sequence, so the recorded ends of these kernels are wrong.
class overlong_kernels {
 public:
  /// Takes kernels in order of their starts. take(kernel, is_overlong) gets them in the same order,
  /// as soon as no further kernel can lie inside them.
  template <class Take>
  void add(kernel_record const& kernel, Take take) {
    while (!waiting_.empty() &&
           (end_of(waiting_.front().kernel) <= kernel.start || waiting_.size() >= max_waiting))
      take_first(take);
    note(kernel);
    waiting_.push_back({kernel, 0});
  }
  template <class Take>
  void finish(Take take) {
    while (!waiting_.empty()) take_first(take);
  }

 private:
  static constexpr std::size_t max_waiting = 1 << 16;
  /// A single kernel inside may be due to imprecise clocks.
  static constexpr std::uint32_t too_many = 2;
  struct waiting {
    kernel_record kernel;
    std::uint32_t inside = 0;
  };

  static timestamp_ns end_of(kernel_record const& kernel) noexcept {
    return kernel.start + kernel.duration;
  }
  /// Kernels of a graph run at the same time. If the graph is not recorded, they still share the
  /// call that launched it.
  static bool are_of_one_graph(kernel_record const& one, kernel_record const& other) noexcept {
    return raw(one.graph) != 0 || raw(other.graph) != 0 || one.correlation == other.correlation;
  }
  void note(kernel_record const& kernel) {
    auto const stream = std::tuple(kernel.device, kernel.context, kernel.stream);
    auto const next = first_ + waiting_.size();
    auto const [at, is_new] = last_to_end_.try_emplace(stream, next);
    auto& last = at->second;
    if (is_new || last < first_) {  // it was already taken
      last = next;
      return;
    }
    auto& around = waiting_[last - first_];
    if (end_of(around.kernel) < end_of(kernel))
      last = next;
    else if (around.kernel.start < kernel.start && !are_of_one_graph(around.kernel, kernel))
      ++around.inside;
  }
  template <class Take>
  void take_first(Take take) {
    auto const one = waiting_.front();
    waiting_.pop_front();
    ++first_;
    take(one.kernel, one.inside >= too_many);
  }

  std::deque<waiting> waiting_;
  std::uint64_t first_ = 0;  // number of the first waiting kernel
  std::map<std::tuple<device_id, context_id, stream_id>, std::uint64_t> last_to_end_;  // kernels
};

/// The push/pop ranges of one thread. They are numbered from 1 on; 0 means none. Each domain has
/// its own stack, so ranges may overlap. A range counts as inside another only if it ends first.
class thread_ranges {
 public:
  static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

  /// Ranges must come in order of their beginning, longer ones first. Returns the range's number.
  std::uint32_t add(std::uint64_t begin, std::uint64_t end);
  std::uint32_t parent(std::uint32_t range) const { return ranges_[range - 1].parent; }
  std::uint16_t level(std::uint32_t range) const;

  /// Returns the innermost range open at a moment. Fast if successive calls ask for moments close
  /// to each other.
  std::uint32_t open_at(std::uint64_t moment) const;

 private:
  struct nested {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t parent = 0;
    std::uint32_t level = 0;
  };

  /// Returns the range itself if it has not ended, else the nearest one around it that has not.
  std::uint32_t not_ended(std::uint32_t range, std::uint64_t moment) const;

  std::vector<nested> ranges_;
  mutable std::size_t last_ = 0;  // ranges that had begun at the last requested moment
};

std::uint32_t thread_ranges::not_ended(std::uint32_t range, std::uint64_t moment) const {
  while (range != 0 && ranges_[range - 1].end <= moment) range = ranges_[range - 1].parent;
  return range;
}

std::uint32_t thread_ranges::add(std::uint64_t begin, std::uint64_t end) {
  auto parent = not_ended(static_cast<std::uint32_t>(ranges_.size()), begin);
  while (parent != 0 && ranges_[parent - 1].end < end) parent = ranges_[parent - 1].parent;
  auto const level = parent == 0 ? 0 : ranges_[parent - 1].level + 1;
  ranges_.push_back({begin, end, parent, level});
  return static_cast<std::uint32_t>(ranges_.size());
}

std::uint16_t thread_ranges::level(std::uint32_t range) const {
  return static_cast<std::uint16_t>(std::min(ranges_[range - 1].level, 0xffffu));
}

std::uint32_t thread_ranges::open_at(std::uint64_t moment) const {
  constexpr std::size_t steps = 16;
  auto const has_begun = [&](std::size_t at) { return ranges_[at].begin <= moment; };
  auto at = last_;
  if (at > 0 && !has_begun(at - 1)) at = 0;
  for (std::size_t i = 0; i < steps && at < ranges_.size() && has_begun(at); ++i) ++at;
  if (at < ranges_.size() && has_begun(at))
    at = static_cast<std::size_t>(
        std::upper_bound(ranges_.begin(), ranges_.end(), moment,
                         [](std::uint64_t m, nested const& r) { return m < r.begin; }) -
        ranges_.begin());
  last_ = at;
  return not_ended(static_cast<std::uint32_t>(at), moment);
}

class capture_making {
 public:
  capture_making(imported_process& process, import_job const& job, capture::writer& out)
      : from_(process),
        job_(job),
        out_(out),
        epoch_(epoch_of(process)),
        threads_(process.threads().size() + 1),
        declared_for_(job.options.declared.size()) {}

  std::vector<std::uint64_t> const& declared_for() const noexcept { return declared_for_; }

  void write() {
    write_definitions();
    write_ranges();
    write_calls();
    write_kernels();
    write_work(from_.graphs, "graphs");
    write_work(from_.copies, "copies");
    write_work(from_.fills, "fills");
    write_others();
    write_window();
  }

 private:
  std::vector<device_record> known_devices() const;
  void write_definitions();
  void write_ranges();
  void begin_range(imported_range& range);
  void declare(range_begin& range);
  void end_ranges_before(thread_index thread, timestamp_ns moment);
  void end_range(range_id range, timestamp_ns end, thread_index thread);
  void write_calls();
  void write_kernels();
  void mark_collective(kernel_record const& kernel, range_id collective);
  template <class Record>
  void write_work(record_spool<Record>& records, char const* what);
  template <class Record>
  void write_work(Record record);
  void write_others();
  void write_window();

  timestamp_ns at(timestamp_ns time) const noexcept { return at(imported_process::as_said(time)); }
  timestamp_ns at(std::int64_t said) const noexcept {
    return {static_cast<std::uint64_t>(said) + static_cast<std::uint64_t>(epoch_)};
  }
  void see(timestamp_ns start, timestamp_ns end) {
    first_ = std::min(first_.value_or(start), start);
    last_ = std::max(last_, end);
  }
  /// Returns false if the times are impossible, and counts one of `what` ("kernels") as lost.
  bool is_possible(timestamp_ns start, duration_ns length, char const* what) {
    if (from_.days().hold(imported_process::as_said(start), length.value)) return true;
    from_.lose(std::string(what) + "_of_impossible_times");
    return false;
  }
  struct call_meaning {
    bool is_known = false;
    bool is_asynchronous = false;
    bool launches_kernel = false;
    int stream_captures = 0;  // change in the number of open stream captures
  };
  call_meaning const& meaning_of(name_id call);
  launch launch_by(imported_call const& row, call_meaning const& meaning);
  launch const* launch_of(correlation_id correlation, thread_index process_row);
  void note_without_work(imported_call const& row, call_meaning const& meaning);
  static range_id id_of(thread_index thread, std::uint32_t range) {
    return range == 0 ? range_id{} : range_id{std::uint64_t{raw(thread)} << 40 | range};
  }

  struct open_range {
    range_id range{};
    timestamp_ns end;
    thread_index thread{};
  };
  struct thread_state {
    thread_ranges ranges;
    timestamp_ns launches_until{};  // the end of the last call that launched a kernel
    std::vector<open_range> open;   // whose end is not written yet; innermost last
  };

  static std::int64_t epoch_of(imported_process& process);

  imported_process& from_;
  import_job const& job_;
  capture::writer& out_;
  std::int64_t const epoch_;
  std::vector<thread_state> threads_;
  std::uint64_t start_end_ranges_ = 0;
  std::vector<std::uint64_t> declared_for_;  // number of ranges, by index in the options
  std::unordered_map<std::uint64_t, std::size_t> declared_at_;  // option index by domain and name
  std::vector<call_meaning> meanings_;                          // by name
  std::map<std::pair<std::int64_t, correlation_id>, launch> of_several_;  // by process
  std::set<std::pair<std::int64_t, correlation_id>> of_none_;
  name_id nccl_{};           // name of the NCCL domain
  int stream_captures_ = 0;  // number of open ones
  std::optional<timestamp_ns> first_;
  timestamp_ns last_;
};

/// A capture counts from 1970 and uses 0 for a time that is not known. A trace that does not say
/// when it was made may count from 0 or from a negative time.
std::int64_t capture_making::epoch_of(imported_process& process) {
  process.days().settle();
  auto const earliest = std::min(process.days().earliest(), process.began.value_or(INT64_MAX));
  auto const moment = static_cast<std::int64_t>(static_cast<std::uint64_t>(earliest) +
                                                static_cast<std::uint64_t>(process.epoch));
  if (moment > 0) return process.epoch;
  return static_cast<std::int64_t>(ns_per_second - static_cast<std::uint64_t>(earliest));
}

/// Returns all GPUs that are described or had work. If there is one of each, both are the same GPU:
/// the source numbers it as the machine does, and its work as the program did.
std::vector<device_record> capture_making::known_devices() const {
  auto devices = from_.devices;
  auto const& at_work = from_.devices_at_work;
  if (devices.size() == 1 && at_work.size() == 1) {
    auto only = devices.extract(devices.begin());
    only.key() = only.mapped().device = *at_work.begin();
    devices.insert(std::move(only));
  }
  for (auto const id : at_work) devices.try_emplace(id, device_record{.device = id});
  std::vector<device_record> all;
  for (auto const& [id, device] : devices) all.push_back(device);
  return all;
}

void capture_making::write_definitions() {
  static_cast<void>(from_.name("import"));  // the window uses this name
  nccl_ = from_.name("NCCL");
  auto const& names = from_.names();
  for (std::uint32_t i = 1; i < names.size(); ++i)
    out_.add_name(name_id{i}, names.text(name_id{i}));
  for (auto const& [key, value] : from_.facts()) out_.add(fact_record{key, value});
  for (auto const& device : known_devices()) out_.add(device);
  for (auto const& [context, device] : from_.contexts) out_.add(context_record{context, device});
  std::uint32_t number = 0;
  for (auto const os_thread : from_.threads())
    out_.add(thread_record{thread_index{++number}, os_thread, from_.thread_name(os_thread)});
  for (auto const& category : from_.categories) out_.add(category);
  for (auto const& shape : from_.shapes()) out_.add(shape);
}

void capture_making::end_range(range_id range, timestamp_ns end, thread_index thread) {
  out_.add(range_end{at(end), range, thread});
  see(at(end), at(end));
}

void capture_making::end_ranges_before(thread_index thread, timestamp_ns moment) {
  auto& open = threads_[raw(thread)].open;
  while (!open.empty() && open.back().end <= moment) {
    end_range(open.back().range, open.back().end, open.back().thread);
    open.pop_back();
  }
}

/// Declarations by the user take precedence over those of the program.
void capture_making::declare(range_begin& range) {
  auto const& declared = job_.options.declared;
  if (declared.empty()) return;
  auto const key = std::uint64_t{raw(range.domain)} << 32 | raw(range.name);
  auto const [at, is_new] = declared_at_.try_emplace(key, declared.size());
  if (is_new) {
    std::string const name(from_.names().text(range.name));
    auto const whole = std::string(from_.names().text(range.domain)) + ":" + name;
    for (std::size_t i = 0; i < declared.size(); ++i)
      if (declared[i].name == name || declared[i].name == whole) at->second = i;
  }
  if (at->second == declared.size()) return;
  range.declared_flops = declared[at->second].flops;
  ++declared_for_[at->second];
}

void capture_making::begin_range(imported_range& range) {
  auto& begin = range.begin;
  auto const time = begin.time;
  auto const thread = begin.thread;
  if (begin.style == range_style::push_pop) {
    auto& stack = threads_[raw(thread)].ranges;
    auto const number = stack.add(time.value, range.has_end ? range.end.value : stack.never);
    begin.range = id_of(thread, number);
    begin.parent = id_of(thread, stack.parent(number));
    begin.level = stack.level(number);
  } else {
    begin.range = range_id{std::uint64_t{1} << 63 | ++start_end_ranges_};
  }
  begin.time = at(time);
  see(begin.time, begin.time);
  declare(begin);
  out_.add(begin);
}

void capture_making::write_ranges() {
  from_.ranges.drain([&](imported_range range) {
    auto const length = range.has_end ? range.end - range.begin.time : duration_ns{};
    if (!is_possible(range.begin.time, length, "ranges")) return job_.advance(1);
    auto const thread = range.begin.thread;
    end_ranges_before(thread, range.begin.time);
    begin_range(range);
    if (!range.has_end) return job_.advance(1);
    auto const ended_on = raw(range.ended_on) != 0 ? range.ended_on : thread;
    if (range.begin.style == range_style::push_pop)
      threads_[raw(thread)].open.push_back({range.begin.range, range.end, ended_on});
    else
      end_range(range.begin.range, range.end, ended_on);
    job_.advance(1);
  });
  for (auto& thread : threads_) {
    for (; !thread.open.empty(); thread.open.pop_back())
      end_range(thread.open.back().range, thread.open.back().end, thread.open.back().thread);
  }
}

/// Only the name of the call tells if it waited for its copy.
capture_making::call_meaning const& capture_making::meaning_of(name_id call) {
  if (raw(call) >= meanings_.size()) meanings_.resize(from_.names().size());
  auto& known = meanings_[raw(call)];
  if (known.is_known) return known;
  auto const has = [text = from_.names().text(call)](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  return known = {.is_known = true,
                  .is_asynchronous = has("Async"),
                  .launches_kernel = has("Launch") && has("Kernel"),
                  .stream_captures = has("StreamBeginCapture") ? 1
                                     : has("StreamEndCapture") ? -1
                                                               : 0};
}

/// Notes a launch whose kernel has no record, because the profiler was stopped before or ran out of
/// memory. Calls during stream capture do not count, because their work runs later as a graph;
/// nested calls count as one launch.
void capture_making::note_without_work(imported_call const& row, call_meaning const& meaning) {
  stream_captures_ = std::max(0, stream_captures_ + meaning.stream_captures);
  if (!meaning.launches_kernel || raw(row.call.correlation) == 0 || stream_captures_ > 0) return;
  if (row.call.start < threads_[raw(row.thread)].launches_until) return;
  from_.lose("launches_without_a_kernel_record");
}

void capture_making::write_calls() {
  from_.calls.drain([&](imported_call row) {
    auto& call = row.call;
    if (!is_possible(call.start, call.duration, "API_calls")) return job_.advance(1);
    auto* const launch = from_.launches.find(call.correlation);
    auto const& meaning = meaning_of(call.name);
    if (launch == nullptr) {
      note_without_work(row, meaning);
    } else if (launch->thread == 0) {  // of nested calls, keep the outer one
      *launch = launch_by(row, meaning);
    } else if (auto const other = from_.process_of(thread_index{launch->thread});
               launch->is_of_several || other != from_.process_of(row.thread)) {
      // Each process counts its correlation ids separately.
      launch->is_of_several = true;
      of_several_.try_emplace({other, call.correlation}, *launch);
      of_several_.try_emplace({from_.process_of(row.thread), call.correlation},
                              launch_by(row, meaning));
    }
    if (meaning.launches_kernel)
      threads_[raw(row.thread)].launches_until = call.start + call.duration;
    job_.advance(1);
    if (row.is_made) return;
    call.start = at(call.start);
    see(call.start, call.start + call.duration);
    out_.add(call);
  });
}

launch capture_making::launch_by(imported_call const& row, call_meaning const& meaning) {
  launch made;
  made.time = row.call.start.value;
  made.thread = raw(row.thread) & 0x3fff'ffff;
  made.range = threads_[raw(row.thread)].ranges.open_at(row.call.start.value);
  made.asynchronous = meaning.is_asynchronous;
  return made;
}

/// If calls of several processes have this correlation id, the process of the work decides. If the
/// work does not name one, it has no launch.
launch const* capture_making::launch_of(correlation_id correlation, thread_index process_row) {
  auto* const known = from_.launches.find(correlation);
  if (known == nullptr || known->thread == 0) return nullptr;
  if (!known->is_of_several) return known;
  auto const own = of_several_.find({from_.process_of_row(process_row), correlation});
  if (own != of_several_.end()) return &own->second;
  if (of_none_.insert({from_.process_of_row(process_row), correlation}).second)
    from_.lose("launches_that_several_processes_may_have_made");
  return nullptr;
}

/// Writes a mark at the launch, in the domain of NCCL's own ranges.
void capture_making::mark_collective(kernel_record const& kernel, range_id collective) {
  mark_record mark;
  mark.time = kernel.launched.value != 0 ? kernel.launched : kernel.start;
  mark.thread = kernel.thread;
  mark.domain = nccl_;
  mark.name = name_id{static_cast<std::uint32_t>(raw(collective) >> 32)};
  mark.payload = payload_kind::text;
  mark.payload_bits = raw(collective) & UINT32_MAX;
  out_.add(mark);
}

template <class Record>
void capture_making::write_work(Record record) {
  auto const collective = std::exchange(record.range, range_id{});
  auto const process_row =
      record.launched.value == 0 ? std::exchange(record.thread, thread_index{}) : thread_index{};
  auto const* const launch = launch_of(record.correlation, process_row);
  if constexpr (requires { record.asynchronous; })
    record.asynchronous = record.asynchronous || (launch != nullptr && launch->asynchronous != 0);
  if (record.launched.value != 0) {
    auto const& ranges = threads_[raw(record.thread)].ranges;
    record.range = id_of(record.thread, ranges.open_at(record.launched.value));
    record.launched = at(record.launched);
  } else if (launch != nullptr) {
    record.launched = at(timestamp_ns{launch->time});
    record.thread = thread_index{launch->thread};
    record.range = id_of(record.thread, launch->range);
  }
  record.start = at(record.start);
  see(record.start, record.start + record.duration);
  out_.add(record);
  if constexpr (std::is_same_v<Record, kernel_record>)
    if (raw(collective) != 0) mark_collective(record, collective);
}

template <class Record>
void capture_making::write_work(record_spool<Record>& records, char const* what) {
  records.drain([&](Record const& record) {
    if (is_possible(record.start, record.duration, what)) write_work(record);
    job_.advance(1);
  });
}

void capture_making::write_kernels() {
  overlong_kernels overlong;
  auto const take = [&](kernel_record const& kernel, bool is_overlong) {
    if (is_overlong && from_.streams_are_in_order)
      from_.lose("kernels_of_impossible_times");
    else
      write_work(kernel);
  };
  from_.kernels.drain([&](kernel_record const& kernel) {
    if (is_possible(kernel.start, kernel.duration, "kernels")) overlong.add(kernel, take);
    job_.advance(1);
  });
  overlong.finish(take);
}

void capture_making::write_others() {
  from_.syncs.drain([&](sync_record row) {
    if (!is_possible(row.start, row.duration, "waits")) return;
    row.start = at(row.start);
    see(row.start, row.start + row.duration);
    out_.add(row);
  });
  for (auto const& peak : from_.peaks) out_.add(peak);
  for (auto reading : from_.readings) {
    auto const opened = static_cast<std::int64_t>(reading.opened.value);
    auto const closed = static_cast<std::int64_t>(reading.closed.value);
    if (closed < opened || !from_.days().hold(opened, closed - opened)) continue;
    reading.opened = at(opened);
    reading.closed = at(closed);
    out_.add(reading);
  }
  from_.migrations.drain([&](unified_memory_record row) {
    if (!is_possible(row.start, row.duration, "migrations")) return;
    row.start = at(row.start);
    see(row.start, row.start + row.duration);
    out_.add(row);
  });
  from_.marks.drain([&](mark_record row) {
    if (!is_possible(row.time, {}, "marks")) return;
    row.time = at(row.time);
    see(row.time, row.time);
    out_.add(row);
  });
  from_.allocations.drain([&](memory_record row) {
    if (!is_possible(row.time, {}, "allocations")) return;
    row.time = at(row.time);
    see(row.time, row.time);
    out_.add(row);
  });
}

void capture_making::write_window() {
  std::uint32_t index = 0;
  for (auto const& [start, end, trigger] : from_.windows) {
    if (end < start || !from_.days().hold(start, end - start)) continue;
    out_.add(window_record{++index, at(start), at(end), trigger});
  }
  for (auto const& said : {from_.began, from_.ended})
    if (said && from_.days().hold(*said, 0)) see(at(*said), at(*said));
  if (first_ && index == 0)
    out_.add(
        window_record{.index = 1, .start = *first_, .end = last_, .trigger = from_.name("import")});
  auto losses = from_.losses();
  for (auto const& [what, count] : from_.losses_before()) losses[what] += count;
  for (auto const& [what, count] : losses) {
    auto const text = "lost." + what;
    auto const name = from_.name(text);
    out_.add_name(name, text);
    out_.add(counter_record{name, count});
  }
}

}  // namespace

std::uint64_t rows_of(imported_process const& process) {
  return process.ranges.size() + process.calls.size() + process.kernels.size() +
         process.graphs.size() + process.copies.size() + process.fills.size();
}

std::vector<std::uint64_t> write_capture(imported_process& process, import_job const& job,
                                         std::string const& path) {
  auto made = capture::writer::create(path, capture::create_mode::overwrite);
  if (!made) throw import_failure(made.message());
  capture_making making(process, job, **made);
  making.write();
  auto const closed = (*made)->close();
  if (!closed) {  // drops the second part of "failed: no space; it keeps ..."
    auto const& why = closed.message();
    throw import_failure(why.substr(0, why.find(';')) +
                         "; nothing is written, free space or choose another --output");
  }
  if ((*made)->rows_lost() != 0)
    throw import_failure("writing " + path + " failed: memory is short; nothing is written");
  return making.declared_for();
}

}  // namespace gpuprof::host

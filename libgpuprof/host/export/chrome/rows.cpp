// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/rows.hpp"

#include "host/analysis/samples.hpp"

#include <algorithm>

namespace gpuprof::host::chrome {
namespace {

// Linux counts processes and threads to 2^22.
constexpr std::uint64_t beyond_processes = 10'000'000;
// Enough for any real nesting depth. A slice that reaches further back gets a row of its own.
constexpr std::size_t max_intervals = 4096;

}  // namespace

bool cpu_rows::nested_lane::take(std::uint64_t start, std::uint64_t end) {
  if (start < forgotten_until_) return false;
  auto const begins_before = [](std::uint64_t moment) {
    return [moment](interval const& of) { return of.start < moment; };
  };
  auto const first =
      std::partition_point(outermost_.begin(), outermost_.end(), begins_before(start));
  auto const last = std::partition_point(first, outermost_.end(), begins_before(end));
  if (first != outermost_.begin() && std::prev(first)->end > start) return false;
  if (last != first && std::prev(last)->end > end) return false;
  outermost_.insert(outermost_.erase(first, last), {start, end});
  if (outermost_.size() > max_intervals) {
    auto const half = outermost_.begin() + max_intervals / 2;
    forgotten_until_ = std::prev(half)->end;
    outermost_.erase(outermost_.begin(), half);
  }
  return true;
}

cpu_rows::cpu_rows(trace_contents& trace)
    : trace_(&trace), process_(trace.process_id()), next_further_(2 * beyond_processes) {
  std::uint64_t gpus = 1;
  for (auto const& device : trace.devices())
    gpus = std::max(gpus, std::uint64_t{raw(device.device)} + 1);
  if (process_ < gpus) process_ += beyond_processes;
  trace.file().for_each<thread_record>([&](std::span<thread_record const> threads) {
    for (auto const& thread : threads) names_[thread.os_thread] = trace.text()(thread.name);
  });
}

track cpu_rows::of_system_thread(std::uint32_t os_thread) {
  if (os_thread != last_seen_) seen_.insert(last_seen_ = os_thread);
  return {process_, os_thread};
}

track cpu_rows::further(std::uint32_t os_thread, further_use use, std::size_t which) {
  auto& rows = further_[os_thread];
  for (auto const& row : rows)
    if (row.use == use && row.which == which) return row.at;
  of_system_thread(os_thread);
  rows.push_back({{process_, next_further_++}, use, which});
  return rows.back().at;
}

track cpu_rows::beside(std::uint32_t os_thread, further_use use, timestamp_ns start,
                       timestamp_ns end) {
  auto& lanes = lanes_[{os_thread, use}];
  for (std::size_t which = 0;; ++which) {
    if (which == lanes.size()) lanes.emplace_back();
    if (lanes[which].take(start.value, end.value)) return further(os_thread, use, which);
  }
}

track cpu_rows::of_launch(std::uint32_t os_thread, timestamp_ns start, timestamp_ns end) {
  if (launches_[os_thread].take(start.value, end.value)) return of_system_thread(os_thread);
  return beside(os_thread, further_use::launches, start, end);
}

std::string cpu_rows::name_of(std::uint32_t os_thread) const {
  if (os_thread == 0) return "(unknown thread)";
  auto const known = names_.find(os_thread);
  auto const number = std::to_string(os_thread);
  return known == names_.end() || known->second.empty()
             ? "thread " + number
             : "thread " + number + " (" + known->second + ")";
}

void cpu_rows::write_names(event_writer& to) const {
  constexpr std::string_view words[] = {", overlapping calls", ", overlapping ranges",
                                        ", overlapping launches", ", counters of launches",
                                        ", Python"};
  std::uint64_t order = 0;
  for (auto const os_thread : seen_) {
    to.thread({process_, os_thread}, name_of(os_thread), order++);
    auto const further = further_.find(os_thread);
    if (further == further_.end()) continue;
    for (auto const& row : further->second)
      to.thread(row.at, name_of(os_thread) + std::string(words[static_cast<int>(row.use)]),
                order++);
  }
}

call_rows::of_thread& call_rows::thread(std::uint32_t os_thread) {
  if (last_ == nullptr || last_number_ != os_thread) {
    last_ = &threads_[os_thread];
    last_number_ = os_thread;
  }
  return *last_;
}

call_rows::place call_rows::place_of(api_record const& call) {
  auto& [open, busy_until] = thread(call.os_thread);
  auto const start = call.start.value, end = start + nanoseconds(call.duration);
  close_until(open, start);
  place found;
  for (auto const& around : open)
    if (around.correlation == call.correlation) found.is_outermost = false;
  if (open.empty() || end <= open.back().end) {
    open.push_back({start, end, call.correlation});
    found.at = rows_->of_system_thread(call.os_thread);
    return found;
  }
  found.nests = false;
  std::size_t row = 0;
  while (row < busy_until.size() && busy_until[row] > start) ++row;
  if (row == busy_until.size()) busy_until.push_back(0);
  busy_until[row] = end;
  found.at = rows_->further(call.os_thread, further_use::calls, row);
  return found;
}

call_rows::interval call_rows::open_at(std::uint32_t os_thread, timestamp_ns moment) {
  auto& open = thread(os_thread).open;
  close_until(open, moment.value);
  return open.empty() ? interval{} : interval{open.back().start, open.back().end};
}

namespace {

constexpr std::uint64_t first_of_waits = 1'000'000, first_of_others = 2'000'000;

std::uint64_t wanted_number(std::uint32_t number, row_use use, bool is_context, std::size_t lane) {
  if (use == row_use::work && lane == 0) return number;
  if (use == row_use::waits && lane == 0 && !is_context) return first_of_waits + number;
  return first_of_others + number;
}

// Each range takes 200 bytes while ranges are read.
constexpr std::uint64_t max_ranges = 1'000'000;

constexpr std::uint64_t key_of(std::uint32_t range, std::uint32_t row) noexcept {
  return (std::uint64_t{range} << 32) | row;
}

template <class Extent>
void widen(Extent& of, Extent const& by) noexcept {
  of.first = of.last == 0 ? by.first : std::min(of.first, by.first);
  of.last = std::max(of.last, by.last);
}

}  // namespace

track gpu_rows::row_for(device_id device, stream_id stream, row_use use, timestamp_ns start,
                        std::uint64_t length) {
  return lane_of({raw(device), raw(stream), use, false}, start.value, start.value + length);
}

track gpu_rows::row_for_context(device_id device, context_id context, timestamp_ns start,
                                std::uint64_t length) {
  return lane_of({raw(device), raw(context), row_use::waits, true}, start.value,
                 start.value + length);
}

track gpu_rows::row_beside(track of, timestamp_ns start, std::uint64_t length) {
  auto const known = std::find_if(rows_.begin(), rows_.end(), [&](row const& made) {
    return made.at.process == of.process && made.at.thread == of.thread;
  });
  return lane_of({static_cast<std::uint32_t>(of.process), known->stream, row_use::ranges, false},
                 start.value, start.value + length);
}

track gpu_rows::lane_of(key const& of, std::uint64_t start, std::uint64_t end) {
  if (last_ == nullptr || of != last_key_) {
    last_ = &lanes_[of];
    last_key_ = of;
  }
  for (auto& known : *last_) {
    if (known.busy_until > start) continue;
    known.busy_until = end;
    return known.at;
  }
  last_->push_back({new_row(of, last_->size()), end});
  return last_->back().at;
}

track gpu_rows::new_row(key const& of, std::size_t which) {
  auto number = wanted_number(of.number, of.use, of.is_context, which);
  while (!taken_.emplace(of.device, number).second) ++number;
  row made{{of.device, number}, {}, 0, of.number};
  made.name = (of.is_context ? "context " : "stream ") + std::to_string(of.number);
  if (of.use == row_use::waits) made.name += " (sync)";
  if (of.use == row_use::ranges) made.name += " (ranges)";
  if (which != 0) made.name += " (" + std::to_string(which + 1) + ")";
  // Rows of a stream stay together.
  auto const use = static_cast<std::uint64_t>(of.use);
  made.sort_index = (std::uint64_t{of.number} * 4 + use) * 256 + std::min<std::size_t>(which, 255);
  rows_.push_back(made);
  return made.at;
}

gpu_annotations::gpu_annotations(trace_contents& trace)
    : trace_(&trace),
      is_complete_(trace.file().row_count<range_begin>() <= max_ranges),
      // A Kineto trace that had no annotations gets none.
      is_on_(is_complete_ && (trace.fact("import.format") != "Kineto trace" ||
                              !trace.fact("import.gpu_user_annotations").empty())) {}

std::uint32_t gpu_annotations::number_of(track row) {
  auto const is_it = [&](track of) { return of.process == row.process && of.thread == row.thread; };
  if (last_row_ < rows_.size() && is_it(rows_[last_row_])) return last_row_;
  auto const known = std::find_if(rows_.begin(), rows_.end(), is_it);
  last_row_ = static_cast<std::uint32_t>(known - rows_.begin());
  if (known == rows_.end()) rows_.push_back(row);
  return last_row_;
}

void gpu_annotations::see(std::uint32_t range, track row, std::uint64_t first, std::uint64_t last) {
  widen(extents_[key_of(range, number_of(row))], {first, std::max(first, last)});
}

/// Returns the ranges in drawing order: by row, then start, the longer one first.
std::vector<gpu_annotations::placed> gpu_annotations::with_parents() {
  // Inner ranges have greater ids than those around them.
  std::map<std::uint64_t, extent, std::greater<>> all(extents_.begin(), extents_.end());
  std::vector<placed> found;
  for (auto const& [key, at] : all) {
    auto const range = static_cast<std::uint32_t>(key >> 32), row = static_cast<std::uint32_t>(key);
    found.push_back({range, row, at});
    if (auto const parent = trace_->ranges()[range].parent; parent != no_range)
      widen(all[key_of(parent, row)], at);
  }
  std::sort(found.begin(), found.end(), [](placed const& a, placed const& b) {
    return std::tuple(a.row, a.at.first, ~a.at.last, a.range) <
           std::tuple(b.row, b.at.first, ~b.at.last, b.range);
  });
  return found;
}

void gpu_annotations::write(event_writer& to, quoted_names& names, gpu_rows& rows) {
  std::vector<std::uint64_t> open;  // ends of the enclosing ranges on one row
  std::uint32_t last_row = 0;
  for (auto const& [range, row, at] : with_parents()) {
    if (std::exchange(last_row, row) != row) open.clear();
    while (!open.empty() && open.back() <= at.first) open.pop_back();
    auto const& of = trace_->ranges()[range];
    // Operators are too many, and Kineto does not draw them here.
    auto const is_operator = trace_->text()(of.domain) == operators_of_kineto;
    if (is_operator || !names.of_operator(of.name).empty()) continue;
    auto where = rows_[row];
    auto const nests = open.empty() || at.last <= open.back();
    if (nests)
      open.push_back(at.last);
    else
      where = rows.row_beside(where, {at.first}, at.last - at.first);
    to.begin_slice(
        {"gpu_user_annotation", names.of(of.name), where, {at.first}, at.last - at.first});
    to.end_slice();
  }
}

}  // namespace gpuprof::host::chrome

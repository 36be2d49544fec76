// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/cpu_rows.hpp"

#include "host/analysis/samples.hpp"

#include <algorithm>

namespace gpuprof::host::chrome {
namespace {

// Linux counts processes and threads to 2^22.
constexpr std::uint64_t beyond_processes = 10'000'000;
// Enough for any nest that is really there; what reaches further back gets a row of its own.
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
                                        ", overlapping launches", ", counters of launches"};
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

}  // namespace gpuprof::host::chrome

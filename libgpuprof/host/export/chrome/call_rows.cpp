// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/call_rows.hpp"

#include "host/analysis/samples.hpp"

namespace gpuprof::chrome {

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

}  // namespace gpuprof::chrome

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/idle_causes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuprof::host {
namespace {

// Limit for one thread. Without it, a GPU that is idle for a long time would keep more.
constexpr std::size_t most_rows = 100'000, most_calls = 10'000;

timestamp_ns end_of(auto const& row) noexcept {
  return row.start + row.duration;
}

}  // namespace

std::string_view words_of(idle_cause cause) noexcept {
  static constexpr std::array<std::string_view, 10> words{"runs",
                                                          "waits for the GIL",
                                                          "waits for a lock or a thread",
                                                          "sleeps",
                                                          "waits for a socket or pipe",
                                                          "waits for a file",
                                                          "waits for a child process",
                                                          "waits for something else",
                                                          "wants a core",
                                                          "waits in CUDA"};
  auto const i = static_cast<std::size_t>(cause);
  return i < words.size() ? words[i] : words[7];
}

void idle_causes::add(thread_sample_record const& row) {
  if (row.is_child) {
    auto const [place, is_new] = children_.try_emplace(row.os_thread);
    if (is_new) place->second.first = row.start;
    place->second.on_core_ns += row.on_core_ns;
  }
  auto& rows = row.is_child ? children_[row.os_thread].rows : threads_[row.os_thread].rows;
  rows.push_back(row);
  if (rows.size() > most_rows) rows.pop_front();
}

void idle_causes::add(api_record const& call) {
  auto& calls = threads_[call.os_thread].calls;
  calls.push_back(call);
  if (calls.size() > most_calls) calls.pop_front();
}

void idle_causes::idle(device_id device, time_bucket bucket, std::uint32_t launched_by,
                       timestamp_ns from, timestamp_ns to) {
  idle_ns_ += static_cast<double>((to - from).value);
  idle_until_[device] = to;
  for (auto& [_, child] : children_) {
    if (child.rows.empty()) continue;
    forget(child, from);
    if (!child.works(to)) continue;
    child.has_counted = true;
    take(bucket, child, from, to, at_children_);
  }
  auto const thread = threads_.find(launched_by);
  if (thread == threads_.end()) return;
  forget(thread->second, from);
  take(bucket, thread->second, from, to, looks_);
}

void idle_causes::take(time_bucket bucket, thread_state& thread, timestamp_ns from, timestamp_ns to,
                       looks_sum& into) {
  auto const ended_before = [from](auto const& one) { return end_of(one) < from; };
  auto call = std::partition_point(thread.calls.begin(), thread.calls.end(), ended_before);
  auto at_row = std::partition_point(thread.rows.begin(), thread.rows.end(), ended_before);
  for (; at_row != thread.rows.end() && at_row->start < to; ++at_row) {
    auto const& row = *at_row;
    auto const every =
        row.looks > 1 ? static_cast<double>(row.duration.value) / (row.looks - 1) : 0.0;
    for (std::uint32_t i = 0; i < row.looks; ++i) {
      timestamp_ns const at{row.start.value +
                            static_cast<std::uint64_t>(every * static_cast<double>(i))};
      if (at < from) continue;
      if (at >= to) break;
      while (call != thread.calls.end() && end_of(*call) < at) ++call;
      key of{bucket, static_cast<idle_cause>(row.state), row.stack, row.holder, {}};
      into.all += 1;
      if (call != thread.calls.end() && call->start <= at) {
        into.by_key[{bucket, idle_cause::cuda_call, row.stack, {}, call->name}] += 1;
        continue;
      }
      auto const could_run = static_cast<double>(row.on_core_ns + row.wanted_core_ns);
      auto const wanted = row.state == cpu_state::running && could_run > 0
                              ? static_cast<double>(row.wanted_core_ns) / could_run
                              : 0.0;
      if (wanted > 0) into.by_key[{bucket, idle_cause::no_core, row.stack, {}, {}}] += wanted;
      if (wanted < 1) into.by_key[of] += 1 - wanted;
    }
  }
}

// Others only start the processes that work, or clean up after them.
bool idle_causes::child_state::works(timestamp_ns until) const noexcept {
  constexpr double least_share = 0.001;
  return until > first &&
         static_cast<double>(on_core_ns) > least_share * static_cast<double>((until - first).value);
}

std::size_t idle_causes::children() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      children_.begin(), children_.end(), [](auto const& one) { return one.second.has_counted; }));
}

/// Drops what ended before the last idle time of each GPU, because GPUs come in any order.
void idle_causes::forget(thread_state& thread, timestamp_ns before) const {
  for (auto const& [_, until] : idle_until_) before = std::min(before, until);
  while (!thread.rows.empty() && end_of(thread.rows.front()) < before) thread.rows.pop_front();
  while (!thread.calls.empty() && end_of(thread.calls.front()) < before) thread.calls.pop_front();
}

}  // namespace gpuprof::host

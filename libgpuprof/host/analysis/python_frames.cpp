// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/python_frames.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpuprof::host {
namespace {

// Work runs later than it was launched. Half of these moments are in their order before they count,
// so a GPU may be that many launches behind.
constexpr std::size_t max_moments = std::size_t{1} << 19;

}  // namespace

python_frames::python_frames(std::vector<stack_record> const& stacks, receiver begun,
                             receiver ended)
    : stacks_(stacks), begun_(std::move(begun)), ended_(std::move(ended)) {}

void python_frames::launch(timestamp_ns launched, std::uint32_t os_thread, std::int64_t call_ns,
                           stack_id stack) {
  auto const start = launched.value, end = start + static_cast<std::uint64_t>(call_ns);
  if (!moments_.empty()) {  // nodes of a graph have one launch
    auto const& last = moments_.back();
    if (last.start == start && last.os_thread == os_thread && last.stack == stack) return;
  }
  put({start, end, os_thread, stack});
}

void python_frames::add(api_record const& call) {
  auto const length = std::max<std::int64_t>(call.duration.value, 0);
  put({call.start.value, call.start.value + static_cast<std::uint64_t>(length), call.os_thread,
       call.stack});
}

void python_frames::add(thread_sample_record const& looks) {
  if (raw(looks.stack) == 0) return;
  auto const start = looks.start.value;
  auto const length = std::max<std::int64_t>(looks.duration.value, 0);
  put({start, start, looks.os_thread, looks.stack});
  if (length == 0) return;
  auto const end = start + static_cast<std::uint64_t>(length);
  put({end, end, looks.os_thread, looks.stack});
}

void python_frames::cut(std::uint32_t os_thread, timestamp_ns at) {
  put({at.value, at.value, os_thread, {}, true});
}

void python_frames::put(moment const& one) {
  if (moments_.size() >= max_moments) take_first(max_moments / 2);
  moments_.push_back(one);
}

void python_frames::finish() {
  take_first(moments_.size());
  for (auto& [_, thread] : threads_) end_from(thread, 0);
}

void python_frames::take_first(std::size_t count) {
  std::stable_sort(moments_.begin(), moments_.end(), [](moment const& a, moment const& b) {
    return std::tuple(a.start, !a.is_cut, b.end) < std::tuple(b.start, !b.is_cut, a.end);
  });
  auto const last = moments_.begin() + static_cast<std::ptrdiff_t>(count);
  std::for_each(moments_.begin(), last, [&](moment const& one) { take(one); });
  moments_.erase(moments_.begin(), last);
}

void python_frames::take(moment const& one) {
  auto& thread = threads_[one.os_thread];
  if (one.is_cut) {
    thread.is_cut = true;
    return;
  }
  if (one.start < thread.call_end) {
    thread.call_end = std::max(thread.call_end, one.end);
    if (thread.call_has_stack) thread.last_seen = thread.call_end;
  } else {
    thread.call_start = one.start;
    thread.call_end = one.end;
    thread.call_has_stack = false;
  }
  if (thread.call_has_stack || raw(one.stack) == 0 || raw(one.stack) >= stacks_.size()) return;
  thread.call_has_stack = true;
  see(thread, {thread.call_start, thread.call_end, one.os_thread, one.stack});
}

void python_frames::see(of_thread& thread, moment const& at) {
  if (std::exchange(thread.is_cut, false)) end_from(thread, 0);
  if (thread.open.empty() || thread.stack != at.stack) {
    path_.clear();
    for (auto of = at.stack; raw(of) != 0; of = stacks_[raw(of)].caller) {
      if (!stacks_[raw(of)].is_native()) path_.push_back(of);
      if (raw(stacks_[raw(of)].caller) >= raw(of)) break;  // only a damaged file has such callers
    }
    std::reverse(path_.begin(), path_.end());
    std::size_t same = 0;
    while (same < std::min(path_.size(), thread.open.size()) &&
           thread.open[same].frame == path_[same])
      ++same;
    end_from(thread, same);
    for (; same < path_.size(); ++same) {
      auto const parent = same == 0 ? 0 : thread.open.back().id;
      thread.open.push_back({at.os_thread, path_[same], ++last_id_, parent, {at.start}, {}});
      begun_(thread.open.back());
    }
    thread.stack = at.stack;
  }
  thread.last_seen = at.end;
}

void python_frames::end_from(of_thread& thread, std::size_t depth) {
  for (; thread.open.size() > depth; thread.open.pop_back()) {
    thread.open.back().end = {thread.last_seen};
    ended_(thread.open.back());
  }
}

}  // namespace gpuprof::host

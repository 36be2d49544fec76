// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/stack_times.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <type_traits>

namespace gpuprof::host {
namespace {

// Work without a shape gets numbers above those of all shapes.
constexpr std::uint32_t copies = 0x8000'0000, memsets = 0x9000'0000, graphs = 0xa000'0000,
                        calls = 0xf000'0000;

using frame_key = std::tuple<name_id, name_id, std::uint32_t, std::uint32_t>;

frame_key key_of(stack_record const& frame, stack_grouping grouping) noexcept {
  switch (grouping) {
    case stack_grouping::file:
      return {frame.file, {}, 0, 0};
    case stack_grouping::function:
      return {frame.file, frame.function, frame.first_line, 0};
    case stack_grouping::line:
    case stack_grouping::module:
      break;
  }
  if (frame.is_native() && frame.line == 0) return {frame.file, frame.function, 0, 0};
  return {frame.file, {}, 0, frame.line};  // functions may share a line
}

}  // namespace

stack_sum& stack_sum::operator+=(stack_sum const& more) noexcept {
  launches += more.launches;
  gpu_ns += more.gpu_ns;
  copy_ns += more.copy_ns;
  idle_ns += more.idle_ns;
  wait_ns += more.wait_ns;
  cpu_ns += more.cpu_ns;
  bytes += more.bytes;
  return *this;
}

stack_sum& stack_times::sum_of(thread_index thread, std::uint32_t what, stack_id stack) {
  return alike_[(std::uint64_t{raw(thread)} << 32) | what][stack];
}

template <class Work>
void stack_times::add_work(Work const& work, std::uint32_t what) {
  auto& sum = sum_of(work.thread, what, work.stack);
  auto const ns = static_cast<double>(work.duration.value);
  auto const is_copy = std::is_same_v<Work, copy_record> || std::is_same_v<Work, memset_record>;
  stack_sum const one{.launches = 1, .gpu_ns = ns, .copy_ns = is_copy ? ns : 0};
  sum += one;
  all_ += one;
  inferred_.add(work, raw(work.stack));
  auto& last = devices_[work.device];
  if (last.sum != nullptr && work.start > last.until) {
    auto const idle = static_cast<double>((work.start - last.until).value);
    last.sum->idle_ns += idle;
    all_.idle_ns += idle;
  }
  auto const end = work.start + work.duration;
  if (last.sum == nullptr || end >= last.until) last = {end, &sum};
}

inferred_time stack_times::inferred(std::vector<stack_id> const& stacks) const {
  if (!inferred_.any()) return {};
  std::vector<inferred_times::part> parts;
  for (auto const stack : stacks) parts.push_back({raw(stack), 1});
  return inferred_.of(parts);
}

void stack_times::add(kernel_record const& kernel) {
  add_work(kernel, raw(kernel.shape));
}
void stack_times::add(copy_record const& copy) {
  add_work(copy, copies + static_cast<std::uint32_t>(copy.kind));
}
void stack_times::add(memset_record const& set) {
  add_work(set, memsets);
}
void stack_times::add(graph_record const& graph) {
  add_work(graph, graphs + raw(graph.graph));
}

void stack_times::add(api_record const& call, thread_index thread, std::uint64_t bytes) {
  stack_sum const sum{.wait_ns = static_cast<double>(call.duration.value),
                      .bytes = static_cast<double>(bytes)};
  sum_of(thread, calls + raw(call.name), call.stack) += sum;
  all_ += sum;
}

void stack_times::add(thread_sample_record const& row) {
  auto& thread = running_[row.os_thread];
  thread.on_core_ns += static_cast<double>(row.on_core_ns);
  all_.cpu_ns += static_cast<double>(row.on_core_ns);
  if (row.state != cpu_state::running) return;
  thread.looks += row.looks;
  thread.looks_of[row.stack] += row.looks;
}

void stack_times::spread(thread_index thread, stack_sum const& sum, sums const& over) {
  stack_sum known;
  for (auto const& [stack, some] : over)
    if (raw(stack) != 0) known += some;
  auto const by_launches = known.launches > 0;
  if (!by_launches && known.wait_ns <= 0) {
    others_[thread] += sum;
    return;
  }
  for (auto const& [stack, some] : over) {
    if (raw(stack) == 0) continue;
    auto const part = by_launches ? some.launches / known.launches : some.wait_ns / known.wait_ns;
    auto const share = [part](double of, double all) { return all > 0 ? of / all : part; };
    stacks_[stack] += {.launches = sum.launches * part,
                       .gpu_ns = sum.gpu_ns * share(some.gpu_ns, known.gpu_ns),
                       .copy_ns = sum.copy_ns * share(some.copy_ns, known.copy_ns),
                       .idle_ns = sum.idle_ns * share(some.idle_ns, known.idle_ns),
                       .wait_ns = sum.wait_ns * share(some.wait_ns, known.wait_ns),
                       .bytes = sum.bytes * share(some.bytes, known.bytes)};
  }
}

void stack_times::finish(std::vector<bool> const& are_native) {
  for (auto const& [_, thread] : running_)
    for (auto const& [stack, looks] : thread.looks_of)
      if (raw(stack) != 0) stacks_[stack].cpu_ns += thread.on_core_ns * looks / thread.looks;
  std::unordered_map<thread_index, sums> of_threads;
  for (auto const& [key, stacks] : alike_)
    for (auto const& [stack, sum] : stacks) {
      auto const thread = static_cast<thread_index>(key >> 32);
      if (raw(stack) == 0) continue;
      of_threads[thread][stack] += sum;
      stacks_[stack] += sum;
      with_stack_ += sum.launches;
    }
  on_such_threads_ = with_stack_;
  for (auto const& [key, stacks] : alike_) {
    auto const without = stacks.find(stack_id{});
    if (without == stacks.end()) continue;
    auto const thread = static_cast<thread_index>(key >> 32);
    auto const of_thread = of_threads.find(thread);
    if (of_thread == of_threads.end()) {
      others_[thread] += without->second;
      continue;
    }
    on_such_threads_ += without->second.launches;
    auto const is_native = [&](auto const& known) {
      return raw(known.first) < are_native.size() && are_native[raw(known.first)];
    };
    if (stacks.size() == 1 && std::ranges::all_of(of_thread->second, is_native)) {
      others_[thread] += without->second;
      continue;
    }
    spread(thread, without->second, stacks.size() > 1 ? stacks : of_thread->second);
  }
}

void stack_times::each_recorded(
    std::function<void(ran, stack_id, stack_sum const&)> const& use) const {
  for (auto const& [key, stacks] : alike_) {
    auto const what = static_cast<std::uint32_t>(key);
    auto const is_call = what >= calls;
    auto const is = is_call         ? ran::kind::call
                    : what < copies ? ran::kind::kernel
                                    : ran::kind::other;
    for (auto const& [stack, sum] : stacks)
      if (raw(stack) != 0) use({is, is_call ? what - calls : what}, stack, sum);
  }
}

std::vector<bool> native_only(std::vector<stack_record> const& stacks) {
  std::vector<bool> only(stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    auto const caller = raw(stacks[i].caller);
    only[i] = stacks[i].is_native() && (caller == 0 || (caller < i && only[caller]));
  }
  return only;
}

stack_record const* own_frame(std::vector<stack_record> const& stacks, stack_id stack,
                              std::function<bool(stack_record const&)> const& is_own) {
  for (auto at = raw(stack); at != 0 && at < stacks.size(); at = raw(stacks[at].caller)) {
    if (is_own(stacks[at])) return &stacks[at];
    if (raw(stacks[at].caller) >= at) break;  // only a damaged file has such callers
  }
  return nullptr;
}

std::vector<stack_group> group_stacks(stack_times const& times,
                                      std::vector<stack_record> const& stacks,
                                      stack_grouping grouping,
                                      std::function<bool(stack_record const&)> const& is_own) {
  std::map<frame_key, stack_group> groups;
  auto const group_of = [&](stack_record const& frame) -> stack_group& {
    auto const [place, is_new] = groups.try_emplace(key_of(frame, grouping));
    if (is_new) place->second.frame = frame;
    return place->second;
  };
  for (auto const& [stack, sum] : times.stacks()) {
    stack_record const* own = nullptr;
    std::set<stack_group*> seen;  // a function that calls itself counts once
    for (auto at = raw(stack); at != 0 && at < stacks.size() && raw(stacks[at].caller) < at;
         at = raw(stacks[at].caller)) {
      auto const& frame = stacks[at];
      if (!is_own(frame)) continue;
      auto& group = group_of(frame);
      if (seen.insert(&group).second) group.total += sum;
      // A line of Python says more than the native code that it calls.
      if (own == nullptr || (own->is_native() && !frame.is_native())) own = &frame;
    }
    if (own == nullptr && raw(stack) < stacks.size()) {
      own = &stacks[raw(stack)];
      group_of(*own).total += sum;
    }
    if (own == nullptr) continue;
    auto& group = group_of(*own);
    group.own += sum;
    group.stacks.push_back(stack);
  }
  std::vector<stack_group> rows;
  rows.reserve(groups.size());
  for (auto& [_, group] : groups) rows.push_back(group);
  std::stable_sort(rows.begin(), rows.end(), [](stack_group const& a, stack_group const& b) {
    auto const weight = [](stack_group const& g) {
      return std::pair(g.own.gpu_ns, g.total.gpu_ns);
    };
    return weight(a) > weight(b);
  });
  return rows;
}

}  // namespace gpuprof::host

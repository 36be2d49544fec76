// SPDX-License-Identifier: Apache-2.0
// Converts the entries of a thread's ring into model records.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "guest/nvtx/ticks.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <span>

namespace gpuprof::guest {

/// A call that launches work. Kernel records with the same correlation id belong to it.
struct launch_note {
  thread_index thread{};
  correlation_id correlation{};
  range_id range{};        // innermost open push/pop range of the thread; 0: none
  timestamp_ns time;       // when the call was entered
  std::uint8_t flags = 0;  // launch_flags
  /// As in kernel_shape. For a graph, it is kernel_names::generation().
  std::uint32_t arguments = 0;
  name_id kernel{};         // 0: unknown, or not a single kernel
  std::uint16_t stack = 0;  // as in stack_note; 0: none
  // Set only if kernel records were off:
  correlation_id alike{};                   // launch whose record tells what this one ran
  timestamp_ns ran_from = {}, ran_to = {};  // did not run earlier or later than this
};

/// One call to the driver that has returned.
struct driver_call_note {
  timestamp_ns start;
  duration_ns duration;
  std::uint32_t os_thread = 0;
  correlation_id correlation{};
  std::uint32_t id = 0;  // CUPTI's id in the driver domain
  std::int32_t result = 0;
  thread_index thread{};
  std::uint16_t stack = 0;  // as in stack_note; 0: none
};

/// One frame of the stack of a thread.
using stack_frame_note = log_frame;

/// A stack of one thread. Later launches of the thread refer to it by its number, until another
/// stack gets the number.
struct stack_note {
  thread_index thread{};
  std::uint16_t number = 0;
  std::span<stack_frame_note const> frames;  // innermost first
  std::uint16_t caller = 0;                  // number of the stack that has called the last one
};

/// A node of a graph, and the node that it is a copy of (0: none) or the stack of the call that
/// made it.
struct graph_node_note {
  graph_node_id node{}, original{};
  thread_index thread{};
  std::uint16_t stack = 0;
};

/// As in thread_sample_record; stacks are numbers of the sampling thread.
struct thread_sample_note {
  timestamp_ns start;
  duration_ns duration;
  std::uint32_t os_thread = 0;
  cpu_state state{};
  std::uint32_t looks = 0;
  std::uint64_t on_core_ns = 0, wanted_core_ns = 0;
  thread_index sampler{};
  std::uint16_t stack = 0, holder = 0;
  bool is_child = false;
};

/// Receives the decoded entries in the order in which the thread wrote them. If a start/end range
/// ends on another thread, its end may come before its begin, because they are in different rings.
template <class Sink>
concept log_sink = requires(Sink& sink, launch_note const& launch, range_begin const& begin,
                            range_end const& end, mark_record const& mark,
                            driver_call_note const& call, stack_note const& stack,
                            thread_sample_note const& sample, graph_node_note const& node) {
  sink.launch(launch);
  sink.call(call);
  sink.begin(begin);
  sink.end(end);
  sink.mark(mark);
  sink.stack(stack);
  sink.sample(sample);
  sink.graph_node(node);
};

namespace detail {

inline range_begin decode_begin(thread_index owner, log_slot const& head, log_detail const& more,
                                tick_line const& line) noexcept {
  return {.time = {line.to_time(head.time)},
          .range = static_cast<range_id>(head.range),
          .parent = static_cast<range_id>(more.parent),
          .thread = more.thread == thread_index{} ? owner : more.thread,
          .style = static_cast<range_style>(head.flags),
          .level = more.level,
          .name = head.name,
          .domain = more.domain,
          .category = more.category,
          .color = head.color_or_arguments,
          .payload = static_cast<payload_kind>(head.stack_or_payload),
          .payload_bits = more.payload_bits};
}

inline mark_record decode_mark(thread_index owner, log_slot const& head, log_detail const& more,
                               tick_line const& line) noexcept {
  return {.time = {line.to_time(head.time)},
          .thread = owner,
          .name = head.name,
          .domain = more.domain,
          .category = more.category,
          .color = head.color_or_arguments,
          .payload = static_cast<payload_kind>(head.stack_or_payload),
          .payload_bits = more.payload_bits};
}

inline driver_call_note decode_call(thread_index owner, std::uint32_t os_thread,
                                    log_slot const& head, log_call const& more,
                                    tick_line const& line) noexcept {
  auto const start = line.to_time(head.time);
  auto const ns = static_cast<std::int64_t>(line.to_time(more.ended) - start);
  return {.start = {start},
          .duration = {ns > 0 ? ns : 0},
          .os_thread = os_thread,
          .correlation = static_cast<correlation_id>(head.correlation),
          .id = more.id,
          .result = more.result,
          .thread = owner,
          .stack = more.stack};
}

}  // namespace detail

/// Called by the drain thread only. Reads everything published before the call. Returns the number
/// of slots. `line` converts ticks of the entries to time.
template <log_sink Sink>
std::size_t drain_log(thread_log& log, Sink& sink, tick_line const& line) {
  auto const take = [&](log_entry const& entry) -> std::size_t {
    auto const& head = entry.head;
    switch (head.kind) {
      case entry_kind::launch:
        sink.launch({.thread = log.index,
                     .correlation = static_cast<correlation_id>(head.correlation),
                     .range = static_cast<range_id>(head.range),
                     .time = {line.to_time(head.time)},
                     .flags = head.flags,
                     .arguments = head.color_or_arguments,
                     .kernel = head.name,
                     .stack = head.stack_or_payload});
        return 1;
      case entry_kind::unrecorded_launch: {
        auto const& how = log.ring.next(1).unrecorded;
        sink.launch({.thread = log.index,
                     .correlation = static_cast<correlation_id>(head.correlation),
                     .range = static_cast<range_id>(head.range),
                     .time = {line.to_time(head.time)},
                     .arguments = head.color_or_arguments,
                     .stack = head.stack_or_payload,
                     .alike = static_cast<correlation_id>(how.alike),
                     .ran_from = {how.ran_from},
                     .ran_to = {how.ran_to}});
        return 2;
      }
      case entry_kind::range_begin:
        sink.begin(detail::decode_begin(log.index, head, log.ring.next(1).detail, line));
        return 2;
      case entry_kind::range_begin_work: {
        auto begin = detail::decode_begin(log.index, head, log.ring.next(1).detail, line);
        begin.declared_flops = log.ring.next(2).work.flops;
        begin.declared_bytes = log.ring.next(2).work.bytes;
        sink.begin(begin);
        return 3;
      }
      case entry_kind::range_end:
        sink.end({.time = {line.to_time(head.time)},
                  .range = static_cast<range_id>(head.range),
                  .thread = log.index});
        return 1;
      case entry_kind::mark:
        sink.mark(detail::decode_mark(log.index, head, log.ring.next(1).detail, line));
        return 2;
      case entry_kind::driver_call:
        sink.call(detail::decode_call(log.index, log.os_thread, head, log.ring.next(1).call, line));
        return 2;
      case entry_kind::stack: {
        std::array<stack_frame_note, max_stack_frames> frames;
        auto const size = std::min<std::size_t>(head.color_or_arguments, frames.size());
        for (std::size_t i = 0; i < size; ++i) frames[i] = log.ring.next(1 + i).frame;
        sink.stack({.thread = log.index,
                    .number = head.stack_or_payload,
                    .frames = {frames.data(), size},
                    .caller = static_cast<std::uint16_t>(head.correlation)});
        return 1 + head.color_or_arguments;
      }
      case entry_kind::graph_node:
        sink.graph_node({.node = static_cast<graph_node_id>(head.range),
                         .original = static_cast<graph_node_id>(head.time),
                         .thread = log.index,
                         .stack = head.stack_or_payload});
        break;
      case entry_kind::thread_sample: {
        auto const& more = log.ring.next(1).sample;
        auto const start = line.to_time(head.time);
        sink.sample({.start = {start},
                     .duration = {static_cast<std::int64_t>(line.to_time(more.last_look) - start)},
                     .os_thread = head.correlation,
                     .state = static_cast<cpu_state>(head.flags),
                     .looks = head.color_or_arguments,
                     .on_core_ns = more.on_core_ns,
                     .wanted_core_ns = more.wanted_core_ns,
                     .sampler = log.index,
                     .stack = head.stack_or_payload,
                     .holder = more.holder,
                     .is_child = more.is_child != 0});
        return 2;
      }
    }
    return 1;
  };
  return log.ring.drain(take);
}

template <log_sink Sink>
std::size_t drain_log(thread_log& log, Sink& sink) {
  return drain_log(log, sink, look_at_tick_line());
}

/// Drains all logs of the process.
template <log_sink Sink>
std::size_t drain_all_logs(Sink& sink) {
  std::size_t slots = 0;
  auto const& line = look_at_tick_line();
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next) {
    slots += drain_log(*log, sink, line);
  }
  return slots;
}

}  // namespace gpuprof::guest

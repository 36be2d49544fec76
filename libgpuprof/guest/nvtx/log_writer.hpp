// SPDX-License-Identifier: Apache-2.0
// The only code that writes entries into a thread's ring. All times are ticks of nvtx_ticks.hpp.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "model/launch_remark.hpp"

namespace gpuprof::guest {

namespace detail {
bool grow_ring(thread_log& log, std::size_t slots) noexcept;
void write_open_ranges(thread_log& log, std::uint32_t generation) noexcept;
}  // namespace detail

/// Called by the owner thread only, like everything here. Returns true if `slots` entries can be
/// written and each range that was begun in the ring still has room for its end.
inline bool has_room(thread_log& log, std::size_t slots) noexcept {
  if (log.ring.reserve(slots + log.owed_ends)) [[likely]]
    return true;
  return detail::grow_ring(log, slots + log.owed_ends);
}

inline void publish(thread_log& log, std::size_t slots) noexcept {
  log.ring.publish(slots);
  if (log.ring.half_full()) [[unlikely]]
    wake_drain();
}

/// Call while recording. Writes the begins of ranges that were opened before. Returns false if the
/// ring has no room for them. The next event tries again.
inline bool catch_up(thread_log& log) noexcept {
  // Relaxed: the generation changes only while nothing is recorded.
  auto const generation = log_generation.load(std::memory_order_relaxed);
  if (log.caught_up_with == generation) return true;
  detail::write_open_ranges(log, generation);
  return log.caught_up_with == generation;
}

/// Writes a launch of this thread. `time` is when the launching call was entered. Returns false if
/// it was dropped, which is counted. Call only while log_is_recording.
inline bool write_launch(thread_log& log, std::uint64_t time, correlation_id correlation,
                         std::uint8_t flags, std::uint32_t arguments = 0, name_id kernel = {},
                         std::uint16_t stack = 0) noexcept {
  catch_up(log);
  if (!has_room(log, 1)) {
    thread_counters::bump(log.counters.dropped_launches);
    return false;
  }
  auto& slot = log.ring.slot(0).head;
  slot = {.time = time,
          .range = raw(log.ranges.innermost()),
          .correlation = raw(correlation),
          .name = kernel,
          .kind = entry_kind::launch,
          .flags = flags,
          .stack_or_payload = stack,
          .color_or_arguments = arguments};
  publish(log, 1);
  return true;
}

/// Does the same for a launch during which kernel records were off.
bool write_unrecorded_launch(thread_log& log, std::uint64_t time, correlation_id correlation,
                             launch_remark const& how, std::uint16_t stack = 0) noexcept;

/// A driver call of this thread. Times are ticks.
struct finished_call {
  std::uint64_t entered = 0, ended = 0;
  correlation_id correlation{};
  std::uint32_t id = 0;  // CUPTI's id
  std::int32_t result = 0;
  std::uint16_t stack = 0;
};
/// Returns false if the call was dropped, which is counted.
bool write_driver_call(thread_log& log, finished_call const& call) noexcept;

/// Describes a stack, innermost frame first. Launches of this thread that come after it may have
/// its number, until another stack gets it. `caller`: number of the stack that has called the last
/// of the frames; 0: none. Returns false if there is no room.
bool write_stack(thread_log& log, std::uint16_t number, std::span<log_frame const> frames,
                 std::uint16_t caller = 0) noexcept;
/// A node of a graph was made, as a copy of `original` if that is not 0. `stack`: of the call that
/// made it. Returns false if there is no room.
bool write_graph_node(thread_log& log, graph_node_id node, graph_node_id original,
                      std::uint16_t stack) noexcept;

/// Of another thread than that of the log.
struct seen_thread {
  std::uint32_t os_thread = 0;
  cpu_state state{};
  std::uint32_t looks = 0;
  std::uint64_t first_look = 0;  // ticks
  std::uint16_t stack = 0;       // numbers that write_stack() has described; 0: none
  log_sample more;
};
bool write_sample(thread_log& log, seen_thread const& seen) noexcept;

/// Returns false if there is no room. `opener` is set if another thread opened the range.
inline bool write_begin(thread_log& log, open_range const& range, std::uint64_t time,
                        thread_index opener = {}) noexcept {
  auto const has_work = range.has_work();
  auto const slots = has_work ? 3u : 2u;
  // A push/pop range also reserves a slot for its end, which is counted until the end is written.
  auto const owed = range.style == range_style::push_pop ? 1u : 0u;
  if (!has_room(log, slots + owed)) return false;
  log.ring.slot(0).head = {
      .time = time,
      .range = raw(range.range),
      .name = range.name,
      .kind = has_work ? entry_kind::range_begin_work : entry_kind::range_begin,
      .flags = static_cast<std::uint8_t>(range.style),
      .stack_or_payload = static_cast<std::uint16_t>(range.payload),
      .color_or_arguments = range.color};
  log.ring.slot(1).detail = {.parent = raw(range.parent),
                             .payload_bits = range.payload_bits,
                             .domain = range.domain,
                             .category = range.category,
                             .thread = opener,
                             .level = range.level};
  if (has_work) log.ring.slot(2).work = {.flops = range.flops, .bytes = range.bytes};
  log.owed_ends += owed;
  publish(log, slots);
  return true;
}

/// Writes the end of a start/end range. Returns false if there is no room.
inline bool write_end(thread_log& log, range_id range, std::uint64_t time) noexcept {
  if (!has_room(log, 1)) return false;
  log.ring.slot(0).head = {.time = time, .range = raw(range), .kind = entry_kind::range_end};
  publish(log, 1);
  return true;
}

/// Writes the end of a range on this thread's stack whose begin was written. There is always room
/// for it.
inline void write_owed_end(thread_log& log, range_id range, std::uint64_t time) noexcept {
  --log.owed_ends;
  write_end(log, range, time);
}

struct mark_text {
  name_id name{}, domain{};
  std::uint32_t category = 0, color = 0;
  payload_kind payload{};
  std::uint64_t payload_bits = 0;
};
bool write_mark(thread_log& log, mark_text const& mark, std::uint64_t time) noexcept;

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// The only code that puts entries into a thread's ring.
#include "guest/nvtx/log_writer.hpp"

namespace gpuprof::guest {
bool write_unrecorded_launch(thread_log& log, std::uint64_t time, correlation_id correlation,
                             launch_remark const& how, std::uint16_t stack) noexcept {
  catch_up(log);
  if (!has_room(log, 2)) {
    thread_counters::bump(log.counters.dropped_records);
    return false;
  }
  log.ring.slot(0).head = {.time = time,
                           .range = raw(log.ranges.innermost()),
                           .correlation = raw(correlation),
                           .kind = entry_kind::unrecorded_launch,
                           .stack_or_payload = stack,
                           .color_or_arguments = how.arguments};
  log.ring.slot(1).unrecorded = {
      .ran_from = how.ran_from.value, .ran_to = how.ran_to.value, .alike = raw(how.alike)};
  publish(log, 2);
  return true;
}

bool write_driver_call(thread_log& log, finished_call const& call) noexcept {
  if (!has_room(log, 2)) {
    thread_counters::bump(log.counters.dropped_calls);
    return false;
  }
  log.ring.slot(0).head = {
      .time = call.entered, .correlation = raw(call.correlation), .kind = entry_kind::driver_call};
  log.ring.slot(1).call = {
      .ended = call.ended, .id = call.id, .result = call.result, .stack = call.stack};
  publish(log, 2);
  return true;
}

bool write_stack(thread_log& log, std::uint16_t number, std::span<log_frame const> frames,
                 std::uint16_t caller) noexcept {
  auto const slots = 1 + frames.size();
  if (!has_room(log, slots)) return false;
  log.ring.slot(0).head = {.correlation = caller,
                           .kind = entry_kind::stack,
                           .stack_or_payload = number,
                           .color_or_arguments = static_cast<std::uint32_t>(frames.size())};
  for (std::size_t i = 0; i < frames.size(); ++i) log.ring.slot(1 + i).frame = frames[i];
  publish(log, slots);
  return true;
}

bool write_graph_node(thread_log& log, graph_node_id node, graph_node_id original,
                      std::uint16_t stack) noexcept {
  if (!has_room(log, 1)) return false;
  log.ring.slot(0).head = {.time = raw(original),
                           .range = raw(node),
                           .kind = entry_kind::graph_node,
                           .stack_or_payload = stack};
  publish(log, 1);
  return true;
}

bool write_sample(thread_log& log, seen_thread const& seen) noexcept {
  if (!has_room(log, 2)) return false;
  log.ring.slot(0).head = {.time = seen.first_look,
                           .correlation = seen.os_thread,
                           .kind = entry_kind::thread_sample,
                           .flags = static_cast<std::uint8_t>(seen.state),
                           .stack_or_payload = seen.stack,
                           .color_or_arguments = seen.looks};
  log.ring.slot(1).sample = seen.more;
  publish(log, 2);
  return true;
}

bool write_mark(thread_log& log, mark_text const& mark, std::uint64_t time) noexcept {
  if (!has_room(log, 2)) return false;
  log.ring.slot(0).head = {.time = time,
                           .name = mark.name,
                           .kind = entry_kind::mark,
                           .stack_or_payload = static_cast<std::uint16_t>(mark.payload),
                           .color_or_arguments = mark.color};
  log.ring.slot(1).detail = {
      .payload_bits = mark.payload_bits, .domain = mark.domain, .category = mark.category};
  publish(log, 2);
  return true;
}

// Kept out of the caller, which runs for every event.
bool detail::grow_ring(thread_log& log, std::size_t slots) noexcept {
  if (log.ring.grow(slots)) return true;
  if (log.ring.lacks_memory()) thread_counters::bump(log.counters.memory_refusals);
  wake_drain();  // a ring that cannot grow is full before half_full() becomes true
  return false;
}

void detail::write_open_ranges(thread_log& log, std::uint32_t generation) noexcept {
  log.owed_ends = 0;  // ends owed to an earlier generation will not come
  for (std::size_t i = 0; i < log.ranges.size(); ++i) {
    if (log.ranges.at(i).written == generation) ++log.owed_ends;
  }
  for (std::size_t i = 0; i < log.ranges.size(); ++i) {
    auto& range = log.ranges.at(i);
    if (range.written == generation) continue;
    if (!write_begin(log, range, range.time)) return;
    range.written = generation;
  }
  log.caught_up_with = generation;
}

}  // namespace gpuprof::guest

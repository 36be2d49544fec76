// SPDX-License-Identifier: Apache-2.0
// The only code that puts entries into a thread's ring. All times are ticks of nvtx_ticks.hpp.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "model/launch_remark.hpp"

namespace gpuprof::guest {

namespace detail {
bool grow_ring(thread_log& log, std::size_t slots) noexcept;
void write_open_ranges(thread_log& log, std::uint32_t generation) noexcept;
}  // namespace detail

/// Owner thread only, as everything here. True when `slots` entries can be written while every
/// range begun in the ring keeps room for its end.
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

/// While recording: writes the begins of ranges that were opened before. False when the ring has no
/// room for them; the next event tries again.
inline bool catch_up(thread_log& log) noexcept {
  // Relaxed: the generation changes while nothing is recorded.
  auto const generation = log_generation.load(std::memory_order_relaxed);
  if (log.caught_up_with == generation) return true;
  detail::write_open_ranges(log, generation);
  return log.caught_up_with == generation;
}

/// A launch of this thread: `time` is when the launching call was entered. False when it had to be
/// dropped, which is counted. Call only while log_is_recording.
inline bool write_launch(thread_log& log, std::uint64_t time, correlation_id correlation,
                         std::uint8_t flags, std::uint32_t arguments = 0,
                         name_id kernel = {}) noexcept {
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
          .color_or_arguments = arguments};
  publish(log, 1);
  return true;
}

/// The same of a launch for which kernel records were off.
bool write_unrecorded_launch(thread_log& log, std::uint64_t time, correlation_id correlation,
                             launch_remark const& how) noexcept;

/// A call of this thread to the driver. Times are ticks.
struct finished_call {
  std::uint64_t entered = 0, ended = 0;
  correlation_id correlation{};
  std::uint32_t id = 0;  // CUPTI's
  std::int32_t result = 0;
};
/// False when it had to be dropped, which is counted.
bool write_driver_call(thread_log& log, finished_call const& call) noexcept;

/// False when there is no room. `opener` other than 0 when another thread opened the range.
bool write_begin(thread_log& log, open_range const& range, std::uint64_t time,
                 thread_index opener = {}) noexcept;

/// The end of a range of this thread's stack whose begin was written: there is always room.
void write_owed_end(thread_log& log, range_id range, std::uint64_t time) noexcept;

/// The end of a start/end range. False when there is no room.
bool write_end(thread_log& log, range_id range, std::uint64_t time) noexcept;

struct mark_text {
  name_id name{}, domain{};
  std::uint32_t category = 0, color = 0;
  payload_kind payload{};
  std::uint64_t payload_bits = 0;
};
bool write_mark(thread_log& log, mark_text const& mark, std::uint64_t time) noexcept;

}  // namespace gpuprof::guest

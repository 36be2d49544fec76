// SPDX-License-Identifier: Apache-2.0
// The 32-byte slots of a thread's ring: the format of ranges, marks, launches and calls.
#pragma once

#include "model/ids.hpp"
#include "model/records.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>

namespace gpuprof::guest {

enum class entry_kind : std::uint8_t {
  launch,
  unrecorded_launch,
  range_begin,
  range_begin_work,
  range_end,
  mark,
  driver_call,
  stack,
  thread_sample,
  graph_node
};

enum launch_flags : std::uint8_t {
  launch_of_graph = 1,       // cuGraphLaunch: any number of kernel records may follow
  launch_captured = 2,       // captured into a graph: no record will follow
  launch_failed = 4,         // the driver returned an error: no record will follow
  launch_is_copy = 8,        // a memcpy or memset call, not a kernel
  launch_not_selected = 16,  // excluded by the launch filters: its records are not needed
  launch_is_pattern = 32     // its record tells what unrecorded launches ran
};

/// 32 bytes. Range ends and launches take one slot; range begins and marks two (head, detail), or
/// three with declared work; launches without kernel records two (head, unrecorded); driver calls
/// two (head, call); nodes of graphs one (`range`: the node, `time`: the node that it is a copy
/// of); stacks one, and one for each frame; thread samples two (head, sample).
struct log_slot {
  std::uint64_t time = 0;
  std::uint64_t range = 0;        // launch: innermost open range; others: the range itself
  std::uint32_t correlation = 0;  // launches and calls; stack: the number of its callers
  name_id name{};                 // launch: the kernel
  entry_kind kind{};
  std::uint8_t flags = 0;  // launch_flags, or range_style
  /// Launch: the number of the thread's stack. Stack: the number that it gets. Range or mark: a
  /// payload_kind.
  std::uint16_t stack_or_payload = 0;
  /// Range or mark: ARGB color. Launch: its arguments, as in kernel_shape or launch_note. Stack:
  /// its number of frames.
  std::uint32_t color_or_arguments = 0;
};
struct log_detail {
  std::uint64_t parent = 0;
  std::uint64_t payload_bits = 0;
  name_id domain{};
  std::uint32_t category = 0;
  thread_index thread{};  // thread that opened the range; 0: the thread of this log
  std::uint16_t level = 0;
  std::uint16_t unused = 0;
};
struct log_work {
  double flops = 0, bytes = 0;
  std::uint64_t unused[2] = {};
};
struct log_unrecorded {
  std::uint64_t ran_from = 0, ran_to = 0;  // nanoseconds, not ticks
  std::uint32_t alike = 0;                 // correlation id of its pattern launch
  std::uint32_t unused[3] = {};
};
struct log_call {
  std::uint64_t ended = 0;  // ticks
  std::uint32_t id = 0;     // CUPTI's id in the driver domain
  std::int32_t result = 0;
  std::uint16_t stack = 0;  // as in log_slot
  std::uint16_t unused[7] = {};
};
/// Of a head with the os_thread as `correlation`, the cpu_state in `flags`, the number of looks in
/// `color_or_arguments`.
struct log_sample {
  std::uint64_t last_look = 0;  // ticks
  std::uint64_t on_core_ns = 0, wanted_core_ns = 0;
  std::uint16_t holder = 0;    // as in log_slot
  std::uint16_t is_child = 0;  // as in thread_sample_record
  std::uint16_t unused[2] = {};
};
/// Frames beyond this many are left out, the outermost first.
inline constexpr std::size_t max_stack_frames = 128;

/// One frame of a stack; the innermost comes first.
struct log_frame {
  name_id file{}, function{};
  std::uint32_t first_line = 0, line = 0;  // of the function, and of the call in it
  name_id module{};                        // as in stack_record
  // Native code: its number in guest/stacks/loaded_binaries, and the address in its file.
  std::uint32_t binary = 0;
  std::uint64_t address = 0;
  auto operator<=>(log_frame const&) const = default;
};
static_assert(sizeof(log_sample) == 32 && sizeof(log_unrecorded) == 32 && sizeof(log_call) == 32 &&
              sizeof(log_frame) == 32);
static_assert(sizeof(log_slot) == 32 && sizeof(log_detail) == 32 && sizeof(log_work) == 32);

union log_entry {
  log_slot head;
  log_detail detail;
  log_work work;
  log_unrecorded unrecorded;
  log_call call;
  log_frame frame;
  log_sample sample;
  log_entry() noexcept : head{} {}
};

}  // namespace gpuprof::guest

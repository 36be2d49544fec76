// SPDX-License-Identifier: Apache-2.0
// Keeps, for a thread, the numbers of the stacks that it has had, and how many it may still read.
#pragma once

#include "guest/nvtx/thread_log.hpp"
#include "guest/stacks/last_stack.hpp"
#include "guest/stacks/module_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace gpuprof::guest {

/// A thread that has more stacks than this gives their numbers again.
inline constexpr std::uint16_t max_stacks_of_thread = 16'384;

constexpr std::uint64_t mixed_hash(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

/// The stacks that one thread has had, by the hash of their frames. It lies in memory of the log,
/// so that it goes to the next thread, or away, with it.
struct known_stacks {
  struct slot {
    std::uint64_t hash;    // 0: free
    std::uint32_t number;  // 0: only a place where a launch has been seen
    std::uint32_t unused;
  };
  std::uint32_t slots = 0, used = 0;
  std::uint16_t last_number = 0;
  bool is_of_main_thread = false;
  // How many launches have no walk, to stay within most_of_the_time:
  std::uint32_t one_in = 1, until_next = 0;
  std::uint32_t launches = 0, walks = 0, timed = 0;
  std::uint64_t timed_ticks = 0, spent_ticks = 0, judged_at = 0, random = 0x2545F4914F6CDD1Dull;
  // The stack that was last read of the main thread:
  std::byte const* other_frame = nullptr;
  std::uint64_t other_read_at = 0;
  std::uint16_t other_number = 0;
  bool is_deep = false;  // the last stack was too deep for `last`
  last_stack last;
  known_module_names modules;
  // Native stacks, in ticks:
  struct {
    std::uint64_t first_at = 0, spent = 0;  // since the first of them
    std::uint64_t tokens_at = 0, tokens = 0;
    std::uint32_t correlation = 0;  // of the call that had the last one
    std::uint16_t number = 0;
  } native;

  std::span<slot> table() noexcept { return {reinterpret_cast<slot*>(this + 1), slots}; }
  slot& place_of(std::uint64_t hash) noexcept {
    auto const all = table();
    auto i = hash & (slots - 1);
    while (all[i].hash != 0 && all[i].hash != hash) i = (i + 1) & (slots - 1);
    return all[i];
  }
  void clear() noexcept {
    std::ranges::fill(table(), slot{});
    used = 0;
    last_number = 0;
    last.number = 0;
    other_frame = nullptr;
    native.number = 0;
  }
};

namespace detail {
known_stacks* make_known_stacks(thread_log& log) noexcept;
}  // namespace detail

/// Null: memory is out.
inline known_stacks* stacks_of(thread_log& log) noexcept {
  auto* const memory = log.stack_memory.data();
  if (memory != nullptr) [[likely]]
    return std::launder(reinterpret_cast<known_stacks*>(memory));
  return detail::make_known_stacks(log);
}
/// Makes room for one more entry, if need be by forgetting all.
known_stacks* with_room(thread_log& log, known_stacks* stacks) noexcept;
/// Writes a stack that is new into the ring, and keeps its number. Returns 0 if there is no room.
std::uint16_t give_number(thread_log& log, std::uint64_t hash, std::span<log_frame const> frames,
                          std::uint16_t caller = 0) noexcept;

}  // namespace gpuprof::guest

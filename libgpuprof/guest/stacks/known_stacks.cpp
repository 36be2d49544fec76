// SPDX-License-Identifier: Apache-2.0
#include "guest/stacks/known_stacks.hpp"

#include "guest/nvtx/log_writer.hpp"

#include <memory>
#include <new>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr std::uint32_t first_slots = 512;
constexpr std::uint32_t most_slots = 2u * max_stacks_of_thread;

constexpr std::size_t bytes_for(std::uint32_t slots) noexcept {
  return sizeof(known_stacks) + slots * sizeof(known_stacks::slot);
}

}  // namespace

known_stacks* detail::make_known_stacks(thread_log& log) noexcept {
  auto& memory = log.stack_memory;
  if (!memory.allocate(bytes_for(first_slots))) return nullptr;
  auto* const made = new (memory.data()) known_stacks;
  made->slots = first_slots;
  made->is_of_main_thread = log.os_thread == static_cast<std::uint32_t>(getpid());
  return made;
}

known_stacks* with_room(thread_log& log, known_stacks* stacks) noexcept {
  if (2 * stacks->used < stacks->slots) return stacks;
  auto const slots = 2 * stacks->slots;
  side_memory bigger(log.stack_memory.budget());
  if (slots > most_slots || !bigger.allocate(bytes_for(slots))) {
    stacks->clear();
    return stacks;
  }
  auto* const grown = new (bigger.data()) known_stacks(*stacks);
  grown->slots = slots;
  for (auto const& known : stacks->table())
    if (known.hash != 0) grown->place_of(known.hash) = known;
  log.stack_memory.swap(bigger);
  return grown;
}

std::uint16_t give_number(thread_log& log, std::uint64_t hash, std::span<log_frame const> frames,
                          std::uint16_t caller) noexcept {
  auto* stacks = stacks_of(log);
  if (stacks->last_number == max_stacks_of_thread) stacks->clear();
  stacks = with_room(log, stacks);
  auto const number = static_cast<std::uint16_t>(stacks->last_number + 1);
  if (!write_stack(log, number, frames, caller)) return 0;
  stacks->last_number = number;
  stacks->place_of(hash) = {hash, number, 0};
  ++stacks->used;
  return number;
}

}  // namespace gpuprof::guest

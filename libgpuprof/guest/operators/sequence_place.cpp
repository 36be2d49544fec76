// SPDX-License-Identifier: Apache-2.0
#include "guest/operators/sequence_place.hpp"

#include "base/own_memory.hpp"

#include <array>
#include <cstring>
#include <span>

namespace gpuprof::guest {
namespace {

/// Numbers are given in order, so larger ones are something else; -1 stands for none.
constexpr std::uint64_t max_number = std::uint64_t{1} << 48;

}  // namespace

void sequence_place::compare(std::byte const* function, std::uint64_t next_number) noexcept {
  // Small numbers agree with lengths and flags by chance.
  constexpr std::uint64_t min_number = 4;
  if (next_number < min_number || busy_.test_and_set(std::memory_order_acquire)) return;
  if (is_wanted() && next_number != last_number_) {
    if (++looks_ == max_looks) state_.store(given_up, std::memory_order_relaxed);
    std::array<std::uint64_t, words> content{};
    // Less may be there, near the outer end of the stack.
    if (!read_own_memory(reinterpret_cast<std::uintptr_t>(function),
                         std::as_writable_bytes(std::span(content))))
      content = {};
    std::bitset<words> equal;
    for (std::size_t i = 0; i < words; ++i) equal[i] = content[i] == next_number;
    if (equal.any()) {  // else it makes no node
      last_number_ = next_number;
      auto const both = equal & agreeing_;
      agreed_ = both.any() ? agreed_ + 1 : 1;
      agreeing_ = both.any() ? both : equal;
      // The lowest one, because the caller may have the number too, behind the object.
      if (agreed_ == agreements)
        state_.store(static_cast<std::ptrdiff_t>(agreeing_._Find_first() * sizeof(content[0])),
                     std::memory_order_relaxed);
    }
  }
  busy_.clear(std::memory_order_release);
}

std::optional<std::uint64_t> sequence_place::number_of(std::byte const* function) const noexcept {
  auto const offset = state_.load(std::memory_order_relaxed);
  if (offset < 0) return std::nullopt;
  std::uint64_t number = 0;
  std::memcpy(&number, function + offset, sizeof number);
  if (number >= max_number) return std::nullopt;
  return number;
}

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// One thread's short memory of name_ids.
#include "guest/nvtx/name_cache.hpp"

namespace gpuprof::guest {
namespace {

__extension__ using wide = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  auto const product = static_cast<wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load(char const* from, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, bytes);
  return word;
}

std::uint64_t load8(char const* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  return word;
}

}  // namespace

std::uint64_t content_hash(std::string_view text) noexcept {
  constexpr std::uint64_t k1 = 0x9e3779b97f4a7c15u, k2 = 0xd6e8feb86659fd93u;
  auto const* at = text.data();
  auto left = text.size();
  auto hash = text.size() * k1;
  if (left >= 8) {
    for (; left > 8; left -= 8, at += 8) hash = mix(hash ^ load8(at), k2);
    return mix(hash ^ load8(text.data() + text.size() - 8), k1);  // the last eight, overlapping
  }
  if (left >= 4) return mix(hash ^ load(at, 4) ^ (load(at + left - 4, 4) << 32), k1);
  for (std::size_t i = 0; i < left; ++i) hash ^= static_cast<std::uint64_t>(at[i] & 0xff) << 8 * i;
  return mix(hash ^ k2, k1);
}

name_id name_cache::remember(std::string_view text, std::uint64_t hash, std::size_t first,
                             name_registry& registry) noexcept {
  auto const added = registry.find_or_add(text, name_place::program);
  if (added.text.size() != text.size()) return added.id;  // cut, grouped or refused: ask again
  if (at(first).text != nullptr) {
    at(first ^ 1) = at(first);
    if (slots_ < many && ++replaced_ == slots_) grow();
  }
  at(hash & (slots_ - 1)) = {hash, added.text.data(), static_cast<std::uint32_t>(added.text.size()),
                             added.id};
  return added.id;
}

/// Texts keep their places where those are the same.
void name_cache::grow() noexcept {
  if (budget_ != nullptr && !budget_->reserve((many - few) * sizeof(slot))) return;
  for (auto i = few; i < many; ++i) std::construct_at(&at(i));
  slots_ = many;
}

void name_cache::clear() noexcept {
  if (slots_ == many && budget_ != nullptr) budget_->release((many - few) * sizeof(slot));
  for (std::size_t i = 0; i < few; ++i) std::construct_at(&at(i));
  slots_ = few;
  replaced_ = 0;
}

}  // namespace gpuprof::guest

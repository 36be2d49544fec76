// SPDX-License-Identifier: Apache-2.0
// Assigns name_ids for the whole process.
#include "guest/nvtx/name_registry.hpp"

#include "base/fork_guard.hpp"
#include "base/never_destroyed.hpp"
#include "base/own_arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <string_view>

namespace gpuprof::guest {
namespace {

/// The pattern that names have in common if they differ only in numbers. Longer patterns are cut.
using name_group = std::array<char, 256>;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_hexadecimal(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string_view first_of(std::string_view text, bool (*kind)(char) noexcept) noexcept {
  return text.substr(
      0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), kind) - text.begin()));
}

/// Returns the letters before the first digit, or nothing if the word looks like part of a
/// hexadecimal number.
std::string_view fixed_part(std::string_view word) noexcept {
  constexpr std::size_t shortest_hexadecimal = 4;
  if (word.size() >= shortest_hexadecimal && std::all_of(word.begin(), word.end(), is_hexadecimal))
    return {};
  return first_of(word, is_letter);
}

class group_writer {
 public:
  explicit group_writer(name_group& room) noexcept : room_(room) {}

  void add(std::string_view text) noexcept {
    auto const count = std::min(text.size(), room_.size() - used_);
    std::copy_n(text.begin(), count, room_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += count;
  }
  /// Writes one star for "*-*", because the number of parts can also differ.
  void add_star() noexcept {
    auto const so_far = text();
    if (so_far.ends_with('*')) return;
    auto const joins = so_far.size() >= 2 && so_far[used_ - 2] == '*' && so_far[used_ - 1] != ' ';
    joins ? static_cast<void>(--used_) : add("*");
  }
  std::string_view text() const noexcept { return {room_.data(), used_}; }

 private:
  name_group& room_;
  std::size_t used_ = 0;
};

/// "request 8f3a-1 / layer12" -> "request * / layer*". Written to `room`.
std::string_view group_by_words(std::string_view name, name_group& room) noexcept {
  group_writer group(room);
  while (!name.empty()) {
    auto const word = first_of(name, [](char c) noexcept { return is_letter(c) || is_digit(c); });
    auto const has_number = std::any_of(word.begin(), word.end(), is_digit);
    group.add(has_number ? fixed_part(word) : word);
    if (has_number) group.add_star();
    name.remove_prefix(word.size());
    group.add(name.substr(0, 1));  // characters between words
    name.remove_prefix(std::min<std::size_t>(1, name.size()));
  }
  return group.text();
}

/// "request kqzv" -> "request*". Written to `room`.
std::string_view group_by_first_word(std::string_view name, name_group& room) noexcept {
  auto const word = first_of(name, is_letter);
  group_writer group(room);
  group.add(word.substr(0, room.size() - 1));
  group.add("*");
  return group.text();
}

/// parts of the whole budget: 1/4, 1/4, 1/8
constexpr std::array<std::size_t, 3> part_of_place{4, 4, 8};

}  // namespace

name_registry::entry name_registry::find_or_add(std::string_view text, name_place place) noexcept {
  if (text.empty()) return {};
  text = text.substr(0, max_text);
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  own_arithmetic const exact;  // the table of names may grow, which uses floating point
  try {
    if (auto const found = ids_.find(text); found != ids_.end()) {
      return {found->second, found->first};
    }
    if (find_room(place, text.size())) return add(text);
    if (place == name_place::payload) return ++refused_, entry{};
    return place == name_place::program ? group(text) : refuse();
  } catch (...) {  // out of memory
    return refuse();
  }
}

/// Also reserves the room, even if there turns out to be no memory for the text itself.
bool name_registry::find_room(name_place place, std::size_t text_bytes) noexcept {
  auto const at = static_cast<std::size_t>(place);
  auto& taken = places_[at];
  if (taken.names >= limits_.names || taken.bytes + text_bytes > limits_.bytes) return false;
  if (budget_ != nullptr) {
    if (taken.memory(text_bytes) > budget_->limit() / part_of_place[at]) return false;
    auto const bytes = text_bytes + bytes_beside_text;
    if (place == name_place::own)
      budget_->take(bytes);
    else if (!budget_->reserve(bytes))
      return false;
  }
  ++taken.names;
  taken.bytes += text_bytes;
  return true;
}

void name_registry::count_against(memory_budget& budget) noexcept {
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  if (budget_ != nullptr) budget_->release(memory_of_all());
  budget_ = &budget;
  budget_->take(memory_of_all());
}

std::size_t name_registry::memory_of_all() const noexcept {
  auto bytes = of_groups_.memory();
  for (auto const& place : places_) bytes += place.memory();
  return bytes;
}

std::size_t name_registry::memory() const noexcept {
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  return memory_of_all();
}

name_registry::entry name_registry::add(std::string_view text) {
  auto const id = static_cast<name_id>(texts_.size());
  std::string_view const stored = texts_.emplace_back(text);
  try {
    ids_.emplace(stored, id);
  } catch (std::bad_alloc const&) {
    texts_.pop_back();
    throw;
  }
  return {id, stored};
}

name_registry::entry name_registry::group(std::string_view text) {
  name_group room;
  auto common = find_or_add_group(group_by_words(text, room), limits_.groups);
  if (common.text.empty())
    common = find_or_add_group(group_by_first_word(text, room), 2 * limits_.groups);
  if (common.text.empty()) return refuse();
  if (common.text == text) return common;  // nothing in it varies: it is kept
  ++grouped_;
  return {common.id, {}};
}

name_registry::entry name_registry::find_or_add_group(std::string_view common,
                                                      std::size_t max_groups) {
  if (auto const found = ids_.find(common); found != ids_.end()) {
    return {found->second, found->first};
  }
  if (groups_ >= max_groups) return {};
  auto const added = add(common);
  ++groups_;
  ++of_groups_.names;
  of_groups_.bytes += common.size();
  if (budget_ != nullptr) budget_->take(common.size() + bytes_beside_text);
  return added;
}

name_registry::entry name_registry::refuse() noexcept {
  ++refused_;
  if (too_many_ == name_id{}) {
    try {
      auto const id = static_cast<name_id>(texts_.size());
      texts_.emplace_back("(too many names)");
      too_many_ = id;
    } catch (...) {
      return {};
    }
  }
  return {too_many_, {}};
}

std::string name_registry::text(name_id id) const {
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  return raw(id) < texts_.size() ? texts_[raw(id)] : std::string{};
}

std::vector<name_registry::entry> name_registry::names_since(std::size_t& cursor) const {
  std::vector<entry> added;
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  if (cursor == 0) cursor = 1;
  added.reserve(texts_.size() - cursor);
  for (; cursor < texts_.size(); ++cursor) {
    added.push_back({static_cast<name_id>(cursor), texts_[cursor]});
  }
  return added;
}

std::size_t name_registry::size() const noexcept {
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  return texts_.size();
}

std::uint64_t name_registry::refused() const noexcept {
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  return refused_;
}

std::uint64_t name_registry::grouped() const noexcept {
  fork_guard const whole;
  std::lock_guard const lock(mutex_);
  return grouped_;
}

name_registry& names() {
  static never_destroyed<name_registry> registry;
  return *registry;
}

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
    // the last eight bytes, which may overlap
    return mix(hash ^ load8(text.data() + text.size() - 8), k1);
  }
  if (left >= 4) return mix(hash ^ load(at, 4) ^ (load(at + left - 4, 4) << 32), k1);
  for (std::size_t i = 0; i < left; ++i) hash ^= static_cast<std::uint64_t>(at[i] & 0xff) << 8 * i;
  return mix(hash ^ k2, k1);
}

name_id name_cache::remember(std::string_view text, std::uint64_t hash, std::size_t first,
                             name_registry& registry) noexcept {
  auto const added = registry.find_or_add(text, name_place::program);
  // Cut, grouped or refused: not cached. Neither are texts that strcmp() would take for others.
  if (added.text.size() != text.size() || text.find('\0') != text.npos) return added.id;
  if (at(first).text != nullptr) {
    at(first ^ 1) = at(first);
    if (slots_ < many && ++replaced_ == slots_) grow();
  }
  at(hash & (slots_ - 1)) = {hash, added.text.data(), static_cast<std::uint32_t>(added.text.size()),
                             added.id};
  return added.id;
}

name_id name_cache::intern_at_new_place(char const* text, std::size_t max_size,
                                        std::uint16_t& hint) noexcept {
  std::string_view const whole(text, strnlen(text, max_size));
  auto const id = intern(whole);
  auto const first = content_hash(whole) & (slots_ - 1);
  for (auto const i : {first, first ^ 1})
    if (at(i).id == id && at(i).size == whole.size()) hint = static_cast<std::uint16_t>(i);
  return id;
}

/// Texts stay in their slots if the slot number does not change.
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

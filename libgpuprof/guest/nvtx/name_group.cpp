// SPDX-License-Identifier: Apache-2.0
#include "guest/nvtx/name_group.hpp"

#include <algorithm>
#include <cstddef>

namespace gpuprof {
namespace {

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

/// The letters before its first digit; none of what looks like a piece of a hexadecimal number.
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
  /// One star for "*-*": how many pieces a number has differs too.
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

}  // namespace

std::string_view group_by_words(std::string_view name, name_group& room) noexcept {
  group_writer group(room);
  while (!name.empty()) {
    auto const word = first_of(name, [](char c) noexcept { return is_letter(c) || is_digit(c); });
    auto const has_number = std::any_of(word.begin(), word.end(), is_digit);
    group.add(has_number ? fixed_part(word) : word);
    if (has_number) group.add_star();
    name.remove_prefix(word.size());
    group.add(name.substr(0, 1));  // what stands between words
    name.remove_prefix(std::min<std::size_t>(1, name.size()));
  }
  return group.text();
}

std::string_view group_by_first_word(std::string_view name, name_group& room) noexcept {
  auto const word = first_of(name, is_letter);
  group_writer group(room);
  group.add(word.substr(0, room.size() - 1));
  group.add("*");
  return group.text();
}

}  // namespace gpuprof

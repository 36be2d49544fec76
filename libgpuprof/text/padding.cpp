// SPDX-License-Identifier: Apache-2.0
#include "text/padding.hpp"

#include <algorithm>
#include <vector>

namespace gpuprof::text {

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void append_padded(std::string& line, std::string_view text, std::size_t width, bool to_the_right) {
  auto const blanks = width - std::min(width, width_of(text));
  if (to_the_right) line.append(blanks, ' ');
  line += text;
  if (!to_the_right) line.append(blanks, ' ');
}

namespace {

/// Returns the length in bytes of the first `characters` characters.
std::size_t bytes_of(std::string_view text, std::size_t characters) noexcept {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && characters-- == 0) break;
  return at;
}

constexpr std::string_view gap = "...";

std::string_view characters(std::string_view text, std::size_t first, std::size_t count) noexcept {
  auto const from = bytes_of(text, first);
  return text.substr(from, bytes_of(text.substr(from), count));
}

/// Returns how many characters both texts begin with.
std::size_t alike(std::string_view a, std::string_view b) noexcept {
  auto const end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return width_of(a.substr(0, static_cast<std::size_t>(end - a.begin())));
}

/// Returns the beginning of the text, the part around the character `at`, and the end.
std::string shortened_around(std::string_view text, std::size_t at, std::size_t width) {
  constexpr std::size_t least_piece = 3;
  if (width < 2 * gap.size() + 3 * least_piece) return shortened(text, width);
  auto const kept = width - 2 * gap.size();
  auto const behind = kept / 6;
  auto const middle = kept * 2 / 5;
  auto const before = kept - middle - behind;
  auto const all = width_of(text);
  auto const last = all - behind - middle;  // the middle part touches the end
  auto const from = std::clamp(at - std::min(at, middle / 2), before, last);
  return std::string(characters(text, 0, before))
      .append(from > before ? gap : "")
      .append(characters(text, from, middle))
      .append(from < last ? gap : "")
      .append(characters(text, all - behind, behind));
}

void drop_all(std::string& from, std::string_view what) {
  for (auto at = from.find(what); at != std::string::npos; at = from.find(what, at))
    from.erase(at, what.size());
}

/// Drops the list of arguments at the end of a function's name.
void drop_arguments(std::string& name) {
  if (name.empty() || name.back() != ')') return;
  std::size_t depth = 0;
  for (auto at = name.size(); at-- > 0;) {
    depth += name[at] == ')';
    if (name[at] == '(' && --depth == 0) {
      if (at > 0 && name[at - 1] != ' ') name.resize(at);
      return;
    }
  }
}

/// Drops "array<char*, 2ul>" with its comma: it only says how arguments are passed.
void drop_arrays(std::string& name) {
  constexpr std::string_view array = ", array<";
  for (auto at = name.find(array); at != std::string::npos; at = name.find(array, at)) {
    auto end = at + array.size();
    for (std::size_t depth = 1; end < name.size() && depth > 0; ++end)
      depth = name[end] == '<' ? depth + 1 : name[end] == '>' ? depth - 1 : depth;
    name.erase(at, end - at);
  }
}

/// Drops what tells no two functions of C++ apart: the result, well-known namespaces, arguments.
/// Other texts stay as they are.
std::string telling_part(std::string_view text) {
  std::string name(text);
  if (name.find("::") == std::string::npos && name.find('<') == std::string::npos) return name;
  constexpr std::string_view nothing = "void ";
  if (name.starts_with(nothing)) name.erase(0, nothing.size());
  for (auto const* const space : {"(anonymous namespace)::", "at::native::", "std::", "c10::"})
    drop_all(name, space);
  drop_arguments(name);
  drop_arrays(name);
  return name.empty() ? std::string(text) : name;
}

/// The part of each long text that is shown or shortened. Texts of which the same would be left
/// stay as they are.
std::map<std::string_view, std::string> telling_parts(text_set const& texts, std::size_t width) {
  std::map<std::string_view, std::string> parts;
  std::map<std::string, std::size_t> uses;
  for (auto const& text : texts) {
    auto const is_long = width_of(text) > width;
    auto part = is_long ? telling_part(text) : text;
    ++uses[part];
    if (is_long) parts.emplace(text, std::move(part));
  }
  for (auto& [text, part] : parts)
    if (uses[part] > 1) part = std::string(text);
  return parts;
}

}  // namespace

text_map shortened_apart(text_set const& texts, std::size_t width) {
  struct long_text {
    std::string_view whole, part;
  };
  auto const parts = telling_parts(texts, width);
  std::map<std::string, std::vector<long_text>> by_shown;
  for (auto const& [text, part] : parts) by_shown[shortened(part, width)].push_back({text, part});
  text_map shown;
  for (auto const& [alone, of_these] : by_shown)
    for (std::size_t i = 0; i < of_these.size(); ++i) {
      std::size_t at = 0;  // in alphabetical order, neighbors are most similar
      auto const part = of_these[i].part;
      if (i > 0) at = alike(of_these[i - 1].part, part);
      if (i + 1 < of_these.size()) at = std::max(at, alike(part, of_these[i + 1].part));
      shown.emplace(of_these[i].whole,
                    of_these.size() == 1 ? alone : shortened_around(part, at, width));
    }
  return shown;
}

std::string shortened(std::string_view text, std::size_t width) {
  auto const all = width_of(text);
  if (all <= width || width <= gap.size()) return std::string(text);
  auto const kept = width - gap.size();
  auto const behind = kept / 2;
  return std::string(text.substr(0, bytes_of(text, kept - behind)))
      .append(gap)
      .append(text.substr(bytes_of(text, all - behind)));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  if (width == 0 || width_of(text) <= width) return std::string(text);
  std::string lines;
  std::size_t used = 0;
  for (std::size_t at = 0; at < text.size();) {
    auto const blanks = std::min(text.find_first_not_of(' ', at), text.size());
    auto const end = std::min(text.find(' ', blanks), text.size());
    auto const word = text.substr(blanks, end - blanks);
    if (used > indent && used + (blanks - at) + width_of(word) > width) {
      lines.append("\n").append(indent, ' ');
      used = indent;
    } else {
      lines.append(text.substr(at, blanks - at));
      used += blanks - at;
    }
    lines += word;
    used += width_of(word);
    at = end;
  }
  return lines;
}

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

}  // namespace gpuprof::text

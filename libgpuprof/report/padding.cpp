#include "report/padding.hpp"

#include <algorithm>

namespace gpuprof::report {

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

/// Where in the text so many characters have gone by.
std::size_t bytes_of(std::string_view text, std::size_t characters) noexcept {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && characters-- == 0) break;
  return at;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t width) {
  constexpr std::string_view gap = "...";
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

}  // namespace gpuprof::report

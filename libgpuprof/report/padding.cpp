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

std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return line;
}

}  // namespace gpuprof::report

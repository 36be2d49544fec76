// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include "text/padding.hpp"

#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gpuprof::host::command {
namespace {

/// True if the variable is set and not empty, as https://no-color.org defines it.
bool is_set(char const* variable) noexcept {
  char const* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb() noexcept {
  char const* const kind = std::getenv("TERM");
  return kind == nullptr || std::strcmp(kind, "dumb") == 0;
}

}  // namespace

bool is_terminal(std::FILE* out) noexcept {
  return isatty(fileno(out)) != 0;
}

text::page page_of(std::FILE* out, bool wide) noexcept {
  text::page page;
  if (!is_terminal(out)) return page;
  page.bold_headings = !is_set("NO_COLOR") && !is_dumb();
  winsize size{};
  if (!wide && ioctl(fileno(out), TIOCGWINSZ, &size) == 0) page.width = size.ws_col;
  return page;
}

void put_line(std::FILE* out, std::string_view text) {
  auto const lines = text::wrapped(text, page_of(out, false).width, 4) + "\n";
  std::fwrite(lines.data(), 1, lines.size(), out);
}

}  // namespace gpuprof::host::command

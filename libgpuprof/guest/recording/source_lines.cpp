// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/source_lines.hpp"

#include <algorithm>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr off_t max_bytes = 8 << 20;
constexpr std::size_t longest_line = 240;

/// A descriptor that is closed.
struct open_file {
  explicit open_file(char const* path) noexcept
      : descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~open_file() {
    if (descriptor >= 0) close(descriptor);
  }
  open_file(open_file const&) = delete;
  open_file& operator=(open_file const&) = delete;
  int const descriptor;
};

bool is_usable(struct stat const& about, timestamp_ns since) noexcept {
  auto const changed = static_cast<std::uint64_t>(about.st_mtim.tv_sec) * ns_per_second +
                       static_cast<std::uint64_t>(about.st_mtim.tv_nsec);
  return S_ISREG(about.st_mode) && about.st_size <= max_bytes && changed <= since.value;
}

std::string whole_text(char const* path, timestamp_ns since) {
  open_file const file(path);
  struct stat about {};
  if (file.descriptor < 0 || fstat(file.descriptor, &about) != 0 || !is_usable(about, since))
    return {};
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  std::size_t used = 0;
  while (used < text.size()) {
    auto const bytes = read(file.descriptor, text.data() + used, text.size() - used);
    if (bytes <= 0) break;
    used += static_cast<std::size_t>(bytes);
  }
  text.resize(used);
  return text;
}

std::string trimmed(std::string_view line) {
  auto const first = line.find_first_not_of(" \t\r");
  if (first == line.npos) return {};
  line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
  return std::string(line.substr(0, longest_line));
}

}  // namespace

std::vector<source_line> read_source_lines(std::string const& path,
                                           std::span<source_place const> places,
                                           timestamp_ns since) {
  std::vector<source_line> lines;
  auto const text = whole_text(path.c_str(), since);
  std::vector<source_place> wanted(places.begin(), places.end());
  std::sort(wanted.begin(), wanted.end(),
            [](auto const& a, auto const& b) { return a.line < b.line; });
  std::size_t at = 0;
  std::uint32_t number = 1;
  for (auto const& place : wanted) {
    for (; number < place.line && at < text.size(); ++number)
      at = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (number != place.line || at >= text.size()) continue;
    auto line = trimmed(std::string_view(text).substr(at, text.find('\n', at) - at));
    if (!line.empty()) lines.push_back({place, std::move(line)});
  }
  return lines;
}

}  // namespace gpuprof::guest

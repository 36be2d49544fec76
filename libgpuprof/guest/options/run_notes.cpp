// SPDX-License-Identifier: Apache-2.0
#include "guest/options/run_notes.hpp"

#include "base/quiet_write.hpp"

#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr char capture_begun = 'c', no_capture = 'n';

// Each note ends with a zero byte, since paths can contain any other. Each is written with one
// write(), so notes do not mix.
bool append(std::optional<std::string> const& file, char kind, std::string const& text) noexcept {
  if (!file || file->empty()) return false;
  try {
    auto const note = kind + text + '\0';
    auto const to = open(file->c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    if (to < 0) return false;
    quiet_write const here;
    auto const written = write(to, note.data(), note.size());
    close(to);
    return std::cmp_equal(written, note.size());
  } catch (...) {
    return false;
  }
}

}  // namespace

bool note_capture(std::optional<std::string> const& file, std::string const& path) noexcept {
  return append(file, capture_begun, path);
}

bool note_no_capture(std::optional<std::string> const& file, std::string const& why) noexcept {
  return append(file, no_capture, why);
}

run_notes read_run_notes(std::string const& file) {
  run_notes notes;
  std::ifstream from(file, std::ios::binary);
  for (std::string note; std::getline(from, note, '\0');) {
    if (note.empty()) continue;
    auto& kind = note[0] == capture_begun ? notes.captures : notes.no_captures;
    auto text = note.substr(1);
    if (std::find(kind.begin(), kind.end(), text) == kind.end()) kind.push_back(std::move(text));
  }
  return notes;
}

}  // namespace gpuprof::guest

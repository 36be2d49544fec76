// SPDX-License-Identifier: Apache-2.0
#include "counters/launches/shared_readings.hpp"

#include "base/cache_file.hpp"
#include "base/file_lock.hpp"
#include "base/rank_files.hpp"

#include <cinttypes>
#include <cstdio>
#include <unistd.h>

namespace gpuprof {
namespace {

constexpr char const* extension = ".readings";
constexpr std::size_t max_file_bytes = 4 << 20;
constexpr int how = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

bool write_all(int file, std::string const& text) noexcept {
  return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string first_line(std::uint64_t setup) {
  char line[64];
  std::snprintf(line, sizeof line, "gpuprof readings 1 %016" PRIx64 "\n", setup);
  return line;
}

std::string as_lines(std::span<shared_reading const> readings) {
  std::string text;
  for (auto const& r : readings) {
    char line[80];
    std::snprintf(line, sizeof line, "%016" PRIx64 " %08" PRIx32 " %" PRIu64 "\n", r.signature,
                  r.groups, r.mean_ns);
    text += line;
  }
  return text;
}

/// Whoever wrote it still runs.
bool has_its_writer(std::string const& path) noexcept {
  auto const file = ::open(path.c_str(), O_RDONLY | how);
  if (file < 0) return false;
  auto asked = whole_file();
  auto const answered = fcntl(file, F_GETLK, &asked) == 0;
  ::close(file);
  return answered && asked.l_type != F_UNLCK;
}

void read_lines(std::string const& text, std::vector<shared_reading>& to) {
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    shared_reading r;
    auto const line = text.substr(at, end - at);
    if (std::sscanf(line.c_str(), "%16" SCNx64 " %8" SCNx32 " %" SCNu64, &r.signature, &r.groups,
                    &r.mean_ns) == 3)
      to.push_back(r);
  }
}

}  // namespace

bool shared_readings::open() {
  if (file_ >= 0) return true;
  path_ = beside_ranked_capture(own_capture_(), extension);
  if (path_.empty()) return false;
  auto const file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | how, 0666);
  if (file < 0) return false;
  auto lock = whole_file();
  // What an earlier run has left goes once it is certain that nobody writes it.
  if (fcntl(file, F_SETLK, &lock) != 0 || ftruncate(file, 0) != 0 ||
      !write_all(file, first_line(setup_) + as_lines(told_))) {
    ::close(file);
    return false;
  }
  file_ = file;
  return true;
}

void shared_readings::tell(std::span<shared_reading const> fresh) {
  if (fresh.empty()) return;
  auto const was_open = file_ >= 0;
  told_.insert(told_.end(), fresh.begin(), fresh.end());
  if (open() && was_open)
    (void)write_all(file_, as_lines(fresh));  // else others read for themselves
}

std::vector<shared_reading> shared_readings::hear() const {
  std::vector<shared_reading> heard;
  auto const expected = first_line(setup_);
  for (auto const& other : files_of_other_ranks(own_capture_(), extension)) {
    if (!has_its_writer(other.path)) continue;
    auto const text = read_whole_file(other.path, max_file_bytes).text;
    if (text.starts_with(expected)) read_lines(text.substr(expected.size()), heard);
  }
  return heard;
}

void shared_readings::end() noexcept {
  if (file_ < 0) return;
  (void)::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace gpuprof

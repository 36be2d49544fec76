// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/launches/shared_readings.hpp"

#include "base/cache_file.hpp"
#include "base/own_descriptor.hpp"
#include "base/rank_files.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpuprof::guest {
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

std::array<std::uint64_t, 4> mark_of(struct stat const& file) noexcept {
  return {file.st_ino, static_cast<std::uint64_t>(file.st_size),
          static_cast<std::uint64_t>(file.st_mtim.tv_sec),
          static_cast<std::uint64_t>(file.st_mtim.tv_nsec)};
}

/// True for a regular file with one name that this user owns and no other user can access.
bool is_of_this_user(struct stat const& file) noexcept {
  return S_ISREG(file.st_mode) && file.st_nlink == 1 && file.st_uid == ::geteuid() &&
         (file.st_mode & 077) == 0;
}

/// True if the process that wrote the file still runs.
bool has_its_writer(int file) noexcept {
  auto asked = whole_file();
  return fcntl(file, F_GETLK, &asked) == 0 && asked.l_type != F_UNLCK;
}

std::string text_of(int file) {
  std::string text;
  char piece[16384];
  for (ssize_t count = 0; (count = ::read(file, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(count));
    if (text.size() > max_file_bytes) return {};
  }
  return text;
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
  if (path_.empty() || descriptors_are_scarce()) return false;
  auto const file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | how, 0600);
  if (file < 0) return false;
  struct stat made {};
  auto lock = whole_file();
  // The file of an earlier run is emptied only when it is certain that no process writes it.
  if (::fchmod(file, 0600) != 0 || ::fstat(file, &made) != 0 || !is_of_this_user(made) ||
      fcntl(file, F_SETLK, &lock) != 0 || ftruncate(file, 0) != 0 ||
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
    (void)write_all(file_, as_lines(fresh));  // if not, other ranks read for themselves
}

void shared_readings::list_files() {
  auto const own = own_capture_();
  auto const mine = beside_ranked_capture(own, extension);
  if (mine.empty()) return;
  for (std::uint32_t rank = 0; rank < std::min(ranks_, max_ranks); ++rank)
    if (auto path = file_of_rank(own, rank, extension); path != mine)
      others_.emplace_back().path = std::move(path);
}

/// Returns what the file holds, or nothing if its process has ended.
std::vector<shared_reading> shared_readings::told_in(file& other) const {
  std::vector<shared_reading> told;
  auto const opened = ::open(other.path.c_str(), O_RDONLY | how);
  if (opened < 0) return told;
  struct stat status {};
  if (::fstat(opened, &status) == 0 && is_of_this_user(status) && has_its_writer(opened)) {
    other.seen = mark_of(status);
    auto const expected = first_line(setup_);
    if (auto const text = text_of(opened); text.starts_with(expected))
      read_lines(text.substr(expected.size()), told);
  }
  ::close(opened);
  return told;
}

/// Returns true if the content has changed.
bool shared_readings::look_at(file& other, std::uint64_t now_ns) {
  ++looks_;
  struct stat status {};
  std::vector<shared_reading> told;
  if (::lstat(other.path.c_str(), &status) != 0) {
    other.seen = {};
  } else {
    auto const is_known = mark_of(status) == other.seen;
    if (is_known && now_ns - other.opened_ns < believed_for_ns) return false;
    if (descriptors_are_scarce()) return false;
    other.opened_ns = now_ns;
    other.seen = mark_of(status);
    told = told_in(other);
  }
  return std::exchange(other.told, std::move(told)) != other.told;
}

std::vector<shared_reading> shared_readings::hear(std::uint64_t now_ns) {
  if (others_.empty()) list_files();
  if (now_ns >= next_look_ns_ && !others_.empty()) {
    auto any_news = false;
    for (auto left = std::min(max_files_at_once, others_.size()); left > 0; --left)
      any_news = look_at(others_[next_file_++ % others_.size()], now_ns) || any_news;
    pause_ns_ = any_news ? min_pause_ns : std::min(2 * pause_ns_, max_pause_ns);
    next_look_ns_ = now_ns + pause_ns_;
  }
  std::vector<shared_reading> heard;
  for (auto const& other : others_) heard.insert(heard.end(), other.told.begin(), other.told.end());
  return heard;
}

void shared_readings::end() noexcept {
  if (file_ < 0) return;
  (void)::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace gpuprof::guest

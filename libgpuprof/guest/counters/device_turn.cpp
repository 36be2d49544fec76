// SPDX-License-Identifier: Apache-2.0
#include "guest/counters/device_turn.hpp"

#include "base/cache_file.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuprof::guest {
namespace {

constexpr int attempts = 4;

enum class what_is_open { lock_file, removed_lock_file, something_else };

/// Any user can put something at this file name: a link, a pipe, a file that stays locked forever.
/// None of these is a lock file.
what_is_open look_at(int file) noexcept {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1 ||
      status.st_uid != ::geteuid())
    return what_is_open::something_else;
  return status.st_nlink == 1 ? what_is_open::lock_file : what_is_open::removed_lock_file;
}

int open_lock_file(std::string const& path) noexcept {
  constexpr int how = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  auto const file = ::open(path.c_str(), how);
  if (file >= 0 || errno != ENOENT) return file;
  return ::open(path.c_str(), how | O_CREAT | O_EXCL, 0600);
}

enum class lock_answer { locked, taken, impossible };

/// Sets `file` if the lock is taken. The owner removes the file before it unlocks it, so a file
/// that was opened just before that is no longer a valid lock.
lock_answer lock(std::string const& path, own_descriptor& file) noexcept {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    auto const opened = open_lock_file(path);
    if (opened < 0 && errno == EEXIST) continue;  // another process has created it
    if (opened < 0) return lock_answer::impossible;
    auto wanted = whole_file();
    auto const before = look_at(opened);  // locked or not: a foreign file must not block us
    auto const refusal = fcntl(opened, F_SETLK, &wanted) == 0 ? 0 : errno;
    auto const after = look_at(opened);
    if (refusal == 0 && after == what_is_open::lock_file) {
      file = own_descriptor(opened);
      return lock_answer::locked;
    }
    ::close(opened);
    if (before == what_is_open::something_else || after == what_is_open::something_else)
      return lock_answer::impossible;
    if (refusal == EAGAIN || refusal == EACCES) return lock_answer::taken;
    if (refusal != 0) return lock_answer::impossible;
  }
  return lock_answer::taken;  // other processes were faster each time
}

std::string process_in_words(pid_t process) {
  if (process <= 0) return "gpuprof in a process of another container";
  auto line = "gpuprof in process " + std::to_string(process);
  auto const name = read_whole_file("/proc/" + std::to_string(process) + "/comm", 4096).text;
  if (!name.empty()) line += " (" + name.substr(0, name.find('\n')) + ")";
  return line;
}

}  // namespace

device_turn::~device_turn() {
  if (of_ != nullptr) of_->release(gpu_);
}

std::string device_turns::path_of(std::string const& gpu) const {
  return folder_ + "/gpuprof-" + std::to_string(::geteuid()) + "-" + as_file_name(gpu) + ".lock";
}

std::optional<device_turn> device_turns::try_take(std::string const& gpu) {
  std::lock_guard const alone(mutex_);
  auto& known = held_[gpu];
  if (known.turns == 0 && !gpu.empty()) {
    if (lock(path_of(gpu), known.file) == lock_answer::taken) return std::nullopt;
  }
  ++known.turns;
  return device_turn(*this, gpu);
}

void device_turns::release(std::string const& gpu) noexcept {
  std::lock_guard const alone(mutex_);
  auto& known = held_.find(gpu)->second;
  if (--known.turns != 0) return;
  // The program may have closed the descriptor, and so released the lock. Then the file may belong
  // to another process.
  if (known.file.get() < 0) return known.file.close();
  try {
    (void)::unlink(path_of(gpu).c_str());  // only if the lock is ours
  } catch (...) {                          // no memory: the file stays
  }
  known.file.close();
}

std::string device_turns::holder(std::string const& gpu) const {
  std::lock_guard const alone(mutex_);
  auto const known = held_.find(gpu);
  // Opening and closing the file would release our own lock.
  if (gpu.empty() || (known != held_.end() && known->second.turns != 0)) return {};
  auto const file = ::open(path_of(gpu).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {};
  auto asked = whole_file();
  auto const answered =
      look_at(file) == what_is_open::lock_file && fcntl(file, F_GETLK, &asked) == 0;
  ::close(file);
  return answered && asked.l_type != F_UNLCK ? process_in_words(asked.l_pid) : std::string();
}

}  // namespace gpuprof::guest

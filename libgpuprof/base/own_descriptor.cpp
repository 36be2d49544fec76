// SPDX-License-Identifier: Apache-2.0
#include "base/own_descriptor.hpp"

#include "base/fork_guard.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

/// Returns 0 if not known: old kernels and sandboxes lack this call.
std::int64_t birth_of(int descriptor) noexcept {
#if defined(STATX_BTIME)
  struct statx status {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return 0;
  if ((status.stx_mask & STATX_BTIME) == 0) return 0;
  return status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec;
#else
  (void)descriptor;
  return 0;
#endif
}

}  // namespace

std::optional<file_identity> file_identity::of(int descriptor) noexcept {
  auto const saved_errno = errno;
  struct stat status {};
  auto const flags = fcntl(descriptor, F_GETFL);
  std::optional<file_identity> found;
  if (flags >= 0 && fstat(descriptor, &status) == 0)
    found = {status.st_dev, status.st_ino, birth_of(descriptor), flags & O_ACCMODE};
  errno = saved_errno;
  return found;
}

namespace {

/// Used by forked children. Without a lock, because the thread that holds it may not exist in the
/// child. Descriptors that do not fit in the table stay open in children.
struct open_descriptor {
  std::atomic<int> number{-1};  // written last; the other members are valid while it is not -1
  file_identity file;
};
constexpr int being_filled = -2;
std::array<open_descriptor, 32> all_open;

void close_in_child() {
  for (auto& open : all_open) {
    auto const number = open.number.exchange(-1, std::memory_order_acquire);
    if (number >= 0 && file_identity::of(number) == open.file) ::close(number);
  }
}

void keep_from_children(int number, file_identity const& file) noexcept {
  static auto const installed = run_in_children(close_in_child);
  static_cast<void>(installed);
  for (auto& open : all_open) {
    int none = -1;
    if (!open.number.compare_exchange_strong(none, being_filled)) continue;
    open.file = file;
    open.number.store(number, std::memory_order_release);
    return;
  }
}

void forget(int number) noexcept {
  for (auto& open : all_open) {
    auto expected = number;
    if (open.number.compare_exchange_strong(expected, -1)) return;
  }
}

/// A daemon that closes its standard streams opens other files in their place. If a file of gpuprof
/// got one of these numbers, the daemon would write to the wrong files.
int above_standard_streams(int number) noexcept {
  if (number < STDIN_FILENO || number > STDERR_FILENO) return number;
  auto const saved_errno = errno;
  auto const moved = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved >= 0) ::close(number);
  errno = saved_errno;
  return moved >= 0 ? moved : number;
}

}  // namespace

own_descriptor::own_descriptor(int opened) noexcept : number_(above_standard_streams(opened)) {
  auto const number = number_;
  auto const file = number >= 0 ? file_identity::of(number) : std::nullopt;
  if (!file) return;
  file_ = *file;
  keep_from_children(number, file_);
}

int own_descriptor::get() const noexcept {
  return number_ >= 0 && file_identity::of(number_) == file_ ? number_ : -1;
}

void own_descriptor::close() noexcept {
  if (number_ < 0) return;
  // Removed from the table first, because another thread may get the number as soon as it is
  // closed.
  auto const ours = get();
  auto const saved_errno = errno;
  forget(std::exchange(number_, -1));
  if (ours >= 0) ::close(ours);
  errno = saved_errno;
}

// Counts from the top: a new descriptor gets the lowest free number, so high numbers are mostly
// free.
bool has_free_descriptors(unsigned count) noexcept {
  constexpr int max_asked = 4096;
  auto const kept = errno;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  auto const numbers = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
  unsigned free = 0;
  for (auto number = numbers - 1; free < count && number >= std::max(0, numbers - max_asked);
       --number)
    free += fcntl(number, F_GETFD) < 0 ? 1u : 0u;
  errno = kept;
  return free >= count;
}

}  // namespace gpuprof

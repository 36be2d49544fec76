// SPDX-License-Identifier: Apache-2.0
#include "base/futex.hpp"

#include <climits>

#include <cerrno>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuprof {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Preserves the program's errno, because callbacks run inside its calls.
class kept_errno {
 public:
  kept_errno() noexcept = default;
  ~kept_errno() { errno = before_; }
  kept_errno(kept_errno const&) = delete;
  kept_errno& operator=(kept_errno const&) = delete;

 private:
  int const before_ = errno;
};

}  // namespace

void futex_wait(std::atomic<std::uint32_t> const& word, std::uint32_t value,
                std::uint64_t max_ns) noexcept {
  kept_errno const kept;
  timespec const timeout{static_cast<time_t>(max_ns / 1'000'000'000u),
                         static_cast<long>(max_ns % 1'000'000'000u)};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &timeout, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t> const& word) noexcept {
  kept_errno const kept;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace gpuprof

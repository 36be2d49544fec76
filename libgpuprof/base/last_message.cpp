// SPDX-License-Identifier: Apache-2.0
#include "base/last_message.hpp"

#include "base/process.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuprof {
namespace {

struct message_place {
  std::atomic<std::uint32_t> owner;  // the system's thread id; 0: free
  std::array<char, max_message_bytes + 1> text;
};

// Not in TLS, because the library uses static TLS, and a late dlopen has only a few hundred bytes
// of it.
constinit std::array<message_place, 64> message_places{};

constinit thread_local char const* message_here __attribute__((tls_model("initial-exec"))) = "";
constinit thread_local message_place* place_here __attribute__((tls_model("initial-exec"))) =
    nullptr;

bool has_ended(std::uint32_t os_thread) noexcept {
  return syscall(SYS_tgkill, getpid(), static_cast<pid_t>(os_thread), 0) != 0 && errno == ESRCH;
}

/// Returns null if all places belong to running threads. In a forked child the thread has another
/// id and gets a place of its own.
message_place* own_place() noexcept {
  auto const here = os_thread_id();
  if (place_here != nullptr && place_here->owner.load(std::memory_order_relaxed) == here)
    return place_here;
  auto const saved_errno = errno;
  message_place* found = nullptr;
  for (auto& one : message_places) {
    auto owner = one.owner.load(std::memory_order_relaxed);
    if (owner != 0 && owner != here && !has_ended(owner)) continue;
    // Acquire: the previous thread's text was written before this one writes.
    if (!one.owner.compare_exchange_strong(owner, here, std::memory_order_acq_rel)) continue;
    found = &one;
    break;
  }
  errno = saved_errno;
  return place_here = found;
}

/// Cuts the text after a complete UTF-8 character.
std::size_t length_within(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text.size();
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return limit;
}

}  // namespace

char const* last_message() noexcept {
  return message_here;
}

void keep_fixed_message(char const* message) noexcept {
  message_here = message;
}

void keep_message(std::string_view message) noexcept {
  auto* const to = own_place();
  if (to == nullptr) {
    message_here = "the reason is in the lines of [gpuprof] on stderr";
    return;
  }
  auto const length = length_within(message, max_message_bytes);
  std::memcpy(to->text.data(), message.data(), length);
  to->text[length] = '\0';
  message_here = to->text.data();
}

}  // namespace gpuprof

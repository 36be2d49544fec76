// SPDX-License-Identifier: Apache-2.0
#include "base/own_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::size_t page = 4096;  // the smallest page: a piece lies in one page on any machine
constexpr std::size_t first_piece = 256;

/// Returns 0 or errno. The kernel copies the bytes, so an address that cannot be read is an error
/// and not a fault.
int copy_memory(pid_t process, std::uint64_t address, std::span<std::byte> into) noexcept {
  auto const saved_errno = errno;
  iovec const local{into.data(), into.size()};
  iovec const remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), into.size()};
  auto const copied = process_vm_readv(process, &local, 1, &remote, 1, 0);
  auto const failed = std::cmp_equal(copied, into.size()) ? 0 : copied < 0 ? errno : EFAULT;
  errno = saved_errno;
  return failed;
}

/// The kernel reads the signal set first and then rejects the request, which is invalid. It must
/// read eight bytes, so they are taken from the aligned word that contains the address.
bool can_read_word(std::uintptr_t address) noexcept {
  auto const saved_errno = errno;
  constexpr auto no_request = ~0L;
  auto const word = address & ~std::uintptr_t{7};
  auto const is_there =
      syscall(SYS_rt_sigprocmask, no_request, word, nullptr, std::size_t{8}) != 0 &&
      errno == EINVAL;
  errno = saved_errno;
  return is_there;
}

bool can_read_pages(std::uintptr_t first, std::uintptr_t last) noexcept {
  for (auto at = first / page; at <= last / page; ++at)
    if (!can_read_word(at * page)) return false;
  return true;
}

/// A part of this thread's stack that was found readable without a gap. The part above a running
/// function's frame stays readable while the function runs.
struct stack_part {
  std::uintptr_t begin = 0, end = 0;
};
constinit thread_local stack_part known_stack __attribute__((tls_model("initial-exec")));

// A frame is rarely larger. Each page up to this distance is checked once.
constexpr std::uintptr_t max_above_frame = 16 * page;

}  // namespace

bool can_read(void const* address, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  auto const first = reinterpret_cast<std::uintptr_t>(address);
  auto const last = first + (bytes - 1);
  if (address == nullptr || last < first) return false;
  auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  auto& stack = known_stack;
  auto const is_inside = here >= stack.begin && here < stack.end;
  if (is_inside && first >= here && last < stack.end) return true;
  if (first < here || last - here > max_above_frame) return can_read_pages(first, last);
  if (!can_read_pages(here, last)) return can_read_pages(first, last);
  stack = {is_inside ? stack.begin : here / page * page,
           std::max(is_inside ? stack.end : 0, (last / page + 1) * page)};
  return true;
}

std::optional<std::size_t> readable_length(char const* text, std::size_t max_bytes) noexcept {
  for (std::size_t known = 0; known < max_bytes;) {
    auto const* const piece = text + known;
    auto const bytes =
        std::min(max_bytes - known, page - reinterpret_cast<std::uintptr_t>(piece) % page);
    if (!can_read(piece, bytes)) return std::nullopt;
    auto const length = strnlen(piece, bytes);
    known += length;
    if (length < bytes) return known;
  }
  return max_bytes;
}

bool read_own_memory(std::uint64_t address, std::span<std::byte> into) noexcept {
  return copy_memory(getpid(), address, into) == 0;
}

bool read_memory_of(std::uint32_t process, std::uint64_t address,
                    std::span<std::byte> into) noexcept {
  auto const id = process != 0 ? static_cast<pid_t>(process) : getpid();
  return copy_memory(id, address, into) == 0;
}

std::string read_own_text(char const* text, std::size_t max_bytes) {
  std::string read;
  std::array<std::byte, page> piece;
  while (text != nullptr && read.size() < max_bytes) {
    auto const at = reinterpret_cast<std::uintptr_t>(text) + read.size();
    auto const wanted = read.empty() ? first_piece : max_bytes - read.size();
    auto const bytes = std::min(wanted, page - at % page);
    auto const failed = copy_memory(getpid(), at, std::span(piece).first(bytes));
    if (failed == EFAULT) return {};
    if (failed != 0) return {text, readable_length(text, max_bytes).value_or(0)};
    auto const* const characters = reinterpret_cast<char const*>(piece.data());
    auto const length = strnlen(characters, bytes);
    read.append(characters, length);
    if (length < bytes) break;
  }
  read.resize(std::min(read.size(), max_bytes));
  return read;
}

}  // namespace gpuprof

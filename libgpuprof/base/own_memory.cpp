// SPDX-License-Identifier: Apache-2.0
#include "base/own_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

constexpr std::size_t page = 4096;  // the least there is: a piece lies in one page of any machine
constexpr std::size_t first_piece = 256;

/// 0, or errno. The kernel copies, so an address that is not ours to read is an error and no fault.
int copy_own_memory(std::uint64_t address, std::span<std::byte> into) noexcept {
  auto const saved_errno = errno;
  iovec const local{into.data(), into.size()};
  iovec const remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), into.size()};
  auto const copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  auto const failed = std::cmp_equal(copied, into.size()) ? 0 : copied < 0 ? errno : EFAULT;
  errno = saved_errno;
  return failed;
}

}  // namespace

bool read_own_memory(std::uint64_t address, std::span<std::byte> into) noexcept {
  return copy_own_memory(address, into) == 0;
}

std::string read_own_text(char const* text, std::size_t max_bytes) {
  std::string read;
  std::array<std::byte, page> piece;
  while (text != nullptr && read.size() < max_bytes) {
    auto const at = reinterpret_cast<std::uintptr_t>(text) + read.size();
    auto const wanted = read.empty() ? first_piece : max_bytes - read.size();
    auto const bytes = std::min(wanted, page - at % page);
    auto const failed = copy_own_memory(at, std::span(piece).first(bytes));
    if (failed == EFAULT) return {};
    if (failed != 0) return {text, strnlen(text, max_bytes)};
    auto const* const characters = reinterpret_cast<char const*>(piece.data());
    auto const length = strnlen(characters, bytes);
    read.append(characters, length);
    if (length < bytes) break;
  }
  read.resize(std::min(read.size(), max_bytes));
  return read;
}

}  // namespace gpuprof

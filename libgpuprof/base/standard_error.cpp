// SPDX-License-Identifier: Apache-2.0
#include "base/standard_error.hpp"

#include "base/own_descriptor.hpp"
#include "base/quiet_write.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace gpuprof {
namespace {

/// A standard stream was inherited through exec(), so it cannot have the close-on-exec flag.
std::optional<file_identity> standard_error_now() noexcept {
  auto const flags = fcntl(STDERR_FILENO, F_GETFD);
  if (flags < 0 || (flags & FD_CLOEXEC) != 0) return std::nullopt;
  return file_identity::of(STDERR_FILENO);
}

std::optional<file_identity> const& remembered() noexcept {
  static auto const at_first = standard_error_now();
  return at_first;
}

bool is_still_there() noexcept {
  return remembered() && file_identity::of(STDERR_FILENO) == remembered();
}

/// Returns what remains after this many bytes are written.
std::span<iovec> without(std::span<iovec> pieces, std::size_t bytes) noexcept {
  while (!pieces.empty() && bytes >= pieces.front().iov_len) {
    bytes -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty()) {
    auto& first = pieces.front();
    first = {static_cast<std::byte*>(first.iov_base) + bytes, first.iov_len - bytes};
  }
  return pieces;
}

}  // namespace

void remember_standard_error() noexcept {
  (void)remembered();
}

void write_to_standard_error(std::span<iovec> pieces) noexcept {
  quiet_write const here;
  while (!pieces.empty() && is_still_there()) {
    auto const written = writev(STDERR_FILENO, pieces.data(), static_cast<int>(pieces.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    pieces = without(pieces, static_cast<std::size_t>(written));
  }
}

}  // namespace gpuprof

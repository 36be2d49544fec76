// SPDX-License-Identifier: Apache-2.0
#include "base/file_identity.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace gpuprof {
namespace {

/// 0: not known. Old kernels, and sandboxes, have no such call.
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

}  // namespace gpuprof

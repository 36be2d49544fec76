// SPDX-License-Identifier: Apache-2.0
// A lock on a whole file that says that a process runs: it goes with the process.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace gpuprof {

/// For fcntl. A lock of this kind belongs to the process and not to the open file, which forked
/// children have too. It also goes when the process closes any other descriptor of the file.
inline flock whole_file() noexcept {
  flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace gpuprof

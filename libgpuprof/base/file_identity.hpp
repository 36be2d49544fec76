// SPDX-License-Identifier: Apache-2.0
// Tells whether a descriptor still is the open file that it was.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

namespace gpuprof {

/// A program that closes a descriptor gets its number again for a file of its own. A file system
/// gives the inode of a removed file to the next one: the time of birth tells those apart, where
/// the file system knows it. The access mode never changes while a file is open.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t born_ns = 0;
  int access_mode = 0;  // O_RDONLY, O_WRONLY, O_RDWR

  /// Nothing when the descriptor is closed. Leaves errno as it was.
  static std::optional<file_identity> of(int descriptor) noexcept;
  friend bool operator==(file_identity const&, file_identity const&) = default;
};

}  // namespace gpuprof

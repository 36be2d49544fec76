// SPDX-License-Identifier: Apache-2.0
// A descriptor that is known again as ours in a process whose program may close all that it sees;
// and how many more files the process may open.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <utility>

namespace gpuprof {

// Tells whether a descriptor still is the open file that it was.

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

/// Movable owner. A program that closes every descriptor gets the numbers again for files of its
/// own: those are neither written nor closed here. Forked children do not keep it, as they would
/// keep a lock on its file for as long as they live.
class own_descriptor {
 public:
  own_descriptor() = default;
  /// Takes what open() returned. It never keeps the number of a standard stream.
  explicit own_descriptor(int opened) noexcept;
  own_descriptor(own_descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)), file_(other.file_) {}
  own_descriptor& operator=(own_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~own_descriptor() { close(); }

  /// -1 when the program has closed it.
  int get() const noexcept;
  /// Leaves errno as it was.
  void close() noexcept;

 private:
  int number_ = -1;
  file_identity file_;
};

// How many more files the process may open, found out without opening one.

/// True when the process may open at least `count` more files: so many numbers below RLIMIT_NOFILE
/// are not in use. `count` system calls where that is so; it gives up after 4096.
bool has_free_descriptors(unsigned count) noexcept;

/// With fewer free, what the capture can do without opens nothing, and closes what it has open:
/// the program needs the rest.
inline constexpr unsigned few_descriptors = 64;
inline bool descriptors_are_scarce() noexcept {
  return !has_free_descriptors(few_descriptors);
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Owns a descriptor, and notices if a program that closes all descriptors has closed it. Also finds
// out how many more files the process may open.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <utility>

namespace gpuprof {

// Checks if a descriptor still refers to the same open file.

/// If the program closes a descriptor, its number may be reused for a file of the program. A file
/// system may give the inode of a removed file to the next file; the time of birth distinguishes
/// these if the file system stores it. The access mode never changes while a file is open.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t born_ns = 0;
  int access_mode = 0;  // O_RDONLY, O_WRONLY, O_RDWR

  /// Returns nothing if the descriptor is closed. Preserves errno.
  static std::optional<file_identity> of(int descriptor) noexcept;
  friend bool operator==(file_identity const&, file_identity const&) = default;
};

/// Movable owner. A program that closes every descriptor may get the same numbers for its own
/// files: these are neither written nor closed here. Forked children close their copy, because it
/// would keep a lock on the file as long as they live.
class own_descriptor {
 public:
  own_descriptor() = default;
  /// Takes the return value of open(). It never keeps the number of a standard stream.
  explicit own_descriptor(int opened) noexcept;
  own_descriptor(own_descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)), file_(other.file_) {}
  own_descriptor& operator=(own_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~own_descriptor() { close(); }

  /// Returns -1 if the program has closed it.
  int get() const noexcept;
  /// Preserves errno.
  void close() noexcept;

 private:
  int number_ = -1;
  file_identity file_;
};

// Finds out how many more files the process may open, without opening one.

/// True if the process may open at least `count` more files: that many numbers below RLIMIT_NOFILE
/// are unused. Usually makes `count` system calls; gives up after 4096.
bool has_free_descriptors(unsigned count) noexcept;

/// With fewer free descriptors, optional parts of the capture open no files and close their open
/// ones, because the program needs the rest.
inline constexpr unsigned few_descriptors = 64;
inline bool descriptors_are_scarce() noexcept {
  return !has_free_descriptors(few_descriptors);
}

}  // namespace gpuprof

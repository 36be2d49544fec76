// SPDX-License-Identifier: Apache-2.0
// A descriptor that is known again as ours in a process whose program may close all that it sees.
#pragma once

#include "base/file_identity.hpp"

#include <utility>

namespace gpuprof {

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

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Reads pieces of a file by offset.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace gpuprof::capture {

/// By pread, not by a mapping: a file that shrinks while it is read is an error here, and SIGBUS
/// there. What is appended after open() is not seen.
class input_file {
 public:
  static result<input_file> open(std::string const& path);
  input_file(input_file&& other) noexcept;
  input_file& operator=(input_file&& other) noexcept;
  ~input_file();

  /// Fills `to` completely, or returns false.
  bool read(std::uint64_t offset, std::span<unsigned char> to) const noexcept;

  std::uint64_t size() const noexcept { return size_; }
  int descriptor() const noexcept { return descriptor_; }

 private:
  input_file(int descriptor, std::uint64_t size) noexcept : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  std::uint64_t size_;
};

}  // namespace gpuprof::capture

// SPDX-License-Identifier: Apache-2.0
// Reads parts of a file by offset.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace gpuprof::capture {

/// Uses pread instead of a mapping: if the file shrinks while it is read, pread reports an error, a
/// mapping would raise SIGBUS. Does not see data appended after open().
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

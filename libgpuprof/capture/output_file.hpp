// SPDX-License-Identifier: Apache-2.0
// The file a writer appends to: its own alone, and never left with half a batch in it.
#pragma once

#include "base/own_descriptor.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace gpuprof::capture {

enum class create_mode { fail_if_exists, overwrite };

/// Of a file system, in bytes.
struct disk_space {
  std::uint64_t total = 0;
  std::uint64_t free = 0;  // for everybody, not only for root
};

/// Always a new file, which only its owner may read: a command line stands in it. To overwrite is
/// to remove the old one first, unless it is a link. The lock that keeps a second writer out is an
/// open-file lock: it goes when the process dies, however it dies.
class output_file {
 public:
  static result<output_file> create(std::string const& path, create_mode mode);

  /// All of the bytes, or none of them and the errno of what failed; EBADF: the program has closed
  /// the descriptor.
  int append(std::span<unsigned char const> bytes) noexcept;

  std::uint64_t size() const noexcept { return size_; }
  /// Empty where the file system does not say it. May take long where that is on another machine.
  std::optional<disk_space> space() const noexcept;
  void close() noexcept { descriptor_.close(); }

 private:
  explicit output_file(own_descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  own_descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// True when a living process has the file open as a writer.
bool has_living_writer(int descriptor) noexcept;

}  // namespace gpuprof::capture

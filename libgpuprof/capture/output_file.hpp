// SPDX-License-Identifier: Apache-2.0
// The file that a writer appends to: used by this writer only, and never left with half a batch in
// it.
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

/// Bytes of a file system.
struct disk_space {
  std::uint64_t total = 0;
  std::uint64_t free = 0;  // available to all users, not only to root
};

/// Always a new file that only its owner may read, because it contains the command line. To
/// overwrite, removes the old file first, unless it is a link. An open-file lock keeps a second
/// writer out; it ends with the process in any case.
class output_file {
 public:
  static result<output_file> create(std::string const& path, create_mode mode);

  /// Appends all of the bytes, or none of them. Returns 0 or the errno of the failure; EBADF: the
  /// program has closed the descriptor.
  int append(std::span<unsigned char const> bytes) noexcept;

  std::uint64_t size() const noexcept { return size_; }
  /// Returns nothing if the file system does not report it. May take long on a network file system.
  std::optional<disk_space> space() const noexcept;
  void close() noexcept { descriptor_.close(); }

 private:
  explicit output_file(own_descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

  own_descriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// Returns true if a living process has the file open as a writer.
bool has_living_writer(int descriptor) noexcept;

}  // namespace gpuprof::capture

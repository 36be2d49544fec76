// SPDX-License-Identifier: Apache-2.0
// An unnamed file for data that does not fit into memory. It disappears with the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gpuprof::host {

/// The file is created at the first write. append() and read() throw import_failure.
class spool_file {
 public:
  explicit spool_file(std::string folder) : folder_(std::move(folder)) {}
  ~spool_file();
  spool_file(spool_file const&) = delete;
  spool_file& operator=(spool_file const&) = delete;

  /// Returns the position in the file.
  std::uint64_t append(std::span<std::byte const> bytes);
  void read(std::uint64_t from, std::span<std::byte> into) const;

 private:
  void open();

  std::string const folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// A file or folder that gets its name when it is whole; until then it has another, and it is
// removed on failure.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// Beside its place, as ".NAME.unfinished-PID": nothing half written is ever taken for an export.
class unfinished_file {
 public:
  /// An error when something stands at `path` and may not be replaced, or the folder cannot be
  /// written.
  static result<unfinished_file> create(std::string path, bool overwrite);
  unfinished_file(unfinished_file&&) noexcept;
  unfinished_file& operator=(unfinished_file&&) = delete;
  ~unfinished_file();

  /// Where it is for now, for libraries that want a name. The file exists, empty.
  std::string const& temporary_path() const noexcept { return temporary_; }

  /// Appends. The first failure is kept for finish(); later calls do nothing.
  void put(std::string_view bytes) noexcept;
  bool failed() const noexcept { return error_ != 0; }
  std::uint64_t size() const noexcept { return size_; }

  /// On the disk, then under its name. On failure nothing is left.
  result<void> finish();

 private:
  unfinished_file(std::string path, std::string temporary, int descriptor, bool overwrite);
  void flush() noexcept;
  void remove() noexcept;

  std::string path_;
  std::string temporary_;  // empty: has its name, or is gone
  int descriptor_ = -1;
  bool overwrite_ = false;
  int error_ = 0;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
};

/// A file in it says that a folder is an export and may be replaced by another.
inline constexpr char export_marker[] = ".gpuprof-export";

class unfinished_folder {
 public:
  /// With `overwrite` what stands at `path` is replaced, if it is a folder that an export has made.
  static result<unfinished_folder> create(std::string path, bool overwrite);
  unfinished_folder(unfinished_folder&&) noexcept;
  unfinished_folder& operator=(unfinished_folder&&) = delete;
  ~unfinished_folder();

  /// Where it is for now.
  std::string const& temporary_path() const noexcept { return temporary_; }

  /// Under its name. On failure nothing is left.
  result<void> finish();

 private:
  unfinished_folder(std::string path, std::string temporary, bool overwrite);

  std::string path_;
  std::string temporary_;  // empty: has its name, or is gone
  bool overwrite_ = false;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// A file or folder that gets its final name when it is complete. Until then it has a temporary
// name; on failure it is removed.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// The temporary file is in the same folder, named ".NAME.unfinished-PID", so that a half-written
/// file is never taken for an export.
class unfinished_file {
 public:
  /// Fails if `path` exists and may not be replaced, or if the folder cannot be written.
  static result<unfinished_file> create(std::string path, bool overwrite);
  unfinished_file(unfinished_file&&) noexcept;
  unfinished_file& operator=(unfinished_file&&) = delete;
  ~unfinished_file();

  /// The temporary path, for libraries that need a name. The file exists and is empty.
  std::string const& temporary_path() const noexcept { return temporary_; }

  /// Appends. The first failure is kept for finish(); later calls do nothing.
  void put(std::string_view bytes) noexcept;
  bool failed() const noexcept { return error_ != 0; }
  std::uint64_t size() const noexcept { return size_; }

  /// Syncs the file to disk and renames it. On failure no file remains.
  result<void> finish();

 private:
  unfinished_file(std::string path, std::string temporary, int descriptor, bool overwrite);
  void flush() noexcept;
  void remove() noexcept;

  std::string path_;
  std::string temporary_;  // empty: renamed or removed
  int descriptor_ = -1;
  bool overwrite_ = false;
  int error_ = 0;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
};

/// A file with this name marks a folder as an export, which another export may replace.
inline constexpr char export_marker[] = ".gpuprof-export";

class unfinished_folder {
 public:
  /// With `overwrite`, a folder at `path` is replaced if an export has made it.
  static result<unfinished_folder> create(std::string path, bool overwrite);
  unfinished_folder(unfinished_folder&&) noexcept;
  unfinished_folder& operator=(unfinished_folder&&) = delete;
  ~unfinished_folder();

  /// The temporary path.
  std::string const& temporary_path() const noexcept { return temporary_; }

  /// Renames the folder. On failure nothing remains.
  result<void> finish();

 private:
  unfinished_folder(std::string path, std::string temporary, bool overwrite);

  std::string path_;
  std::string temporary_;  // empty: renamed or removed
  bool overwrite_ = false;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// A capture that gets its final name when it is complete. Until then it has a temporary name, and
// on failure it is removed.
#pragma once

#include <string>

namespace gpuprof::host {

/// Handles only the names, because capture::writer creates the file itself. Throws import_failure.
class unfinished_capture {
 public:
  /// Unless `overwrite` is set, `path` must not exist.
  unfinished_capture(std::string path, bool overwrite);
  unfinished_capture(unfinished_capture&& other) noexcept;
  unfinished_capture& operator=(unfinished_capture&&) = delete;
  ~unfinished_capture();

  std::string const& path() const noexcept { return path_; }
  std::string const& temporary_path() const noexcept { return temporary_; }

  /// Syncs the file to disk and renames it. On failure no file remains.
  void finish();

 private:
  std::string path_;
  std::string temporary_;  // empty: already renamed
  bool overwrite_;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// A capture that gets its name when it is whole; until then it has another, and goes when it fails.
#pragma once

#include <string>

namespace gpuprof::host {

/// For a capture::writer, which makes its file itself: this is about names alone. Throws
/// import_failure.
class unfinished_capture {
 public:
  /// Nothing may stand at `path` unless `overwrite`.
  unfinished_capture(std::string path, bool overwrite);
  unfinished_capture(unfinished_capture&& other) noexcept;
  unfinished_capture& operator=(unfinished_capture&&) = delete;
  ~unfinished_capture();

  std::string const& path() const noexcept { return path_; }
  std::string const& temporary_path() const noexcept { return temporary_; }

  /// On the disk, then under its name. On failure nothing is left.
  void finish();

 private:
  std::string path_;
  std::string temporary_;  // empty: has its name
  bool overwrite_;
};

}  // namespace gpuprof::host

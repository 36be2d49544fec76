// SPDX-License-Identifier: Apache-2.0
// A folder that gets its name when all its files are whole, like an unfinished_file.
#pragma once

#include "base/result.hpp"

#include <string>

namespace gpuprof {

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

}  // namespace gpuprof

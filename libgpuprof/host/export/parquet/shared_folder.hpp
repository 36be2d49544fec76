// SPDX-License-Identifier: Apache-2.0
// A folder to which captures add files, one after the other or at the same time. The files of a
// capture appear only when they are complete.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace gpuprof::host {

class shared_folder {
 public:
  /// Creates `out` if it is missing; fails if it holds foreign files. `adder` distinguishes the
  /// processes that add at the same time.
  static result<shared_folder> open(std::string out, std::string const& adder);
  shared_folder(shared_folder&&) noexcept;
  shared_folder& operator=(shared_folder&&) = delete;
  ~shared_folder();

  std::filesystem::path const& path() const noexcept { return out_; }
  /// The folder to write to before add().
  std::filesystem::path const& temporary() const noexcept { return temporary_; }

  struct addition {
    std::filesystem::path from;  // in temporary()
    std::filesystem::path to;    // in path(); an existing file is replaced
  };
  /// Adds them in this order. On failure nothing new remains.
  result<void> add(std::vector<addition> const& additions, bool overwrite);

  error cannot_write(std::error_code const& why) const;

 private:
  shared_folder(std::filesystem::path out, std::filesystem::path temporary, bool is_new);

  std::filesystem::path out_;
  std::filesystem::path temporary_;  // empty: added, or moved from
  bool is_new_;                      // created here, so removed if nothing is added
};

}  // namespace gpuprof::host

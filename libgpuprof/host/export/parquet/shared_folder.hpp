// SPDX-License-Identifier: Apache-2.0
// A folder to which captures add files, one after the other or at the same time; what one adds is
// there when it is whole.
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace gpuprof::host {

class shared_folder {
 public:
  /// Makes `out` unless it is there; an error when it holds files of others. `adder` tells those
  /// apart that add at the same time.
  static result<shared_folder> open(std::string out, std::string const& adder);
  shared_folder(shared_folder&&) noexcept;
  shared_folder& operator=(shared_folder&&) = delete;
  ~shared_folder();

  std::filesystem::path const& path() const noexcept { return out_; }
  /// Where to write for now.
  std::filesystem::path const& temporary() const noexcept { return temporary_; }

  struct addition {
    std::filesystem::path from;  // in temporary()
    std::filesystem::path to;    // in path(); what stands there is replaced
  };
  /// In this order. On failure nothing new is left.
  result<void> add(std::vector<addition> const& additions, bool overwrite);

  error cannot_write(std::error_code const& why) const;

 private:
  shared_folder(std::filesystem::path out, std::filesystem::path temporary, bool is_new);

  std::filesystem::path out_;
  std::filesystem::path temporary_;  // empty: done, or gone
  bool is_new_;                      // made here, so removed when nothing came of it
};

}  // namespace gpuprof::host

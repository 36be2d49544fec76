// SPDX-License-Identifier: Apache-2.0
// The output of a subcommand: standard output, or a file that gets its name when it is complete.
#pragma once

#include "base/result.hpp"

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host::command {

class interruptible_output;

class output_file {
 public:
  /// "-" is standard output. Refuses an existing file unless `overwrite` is set, and always a file
  /// in `read`. Ctrl-C and other signals that end the program leave no half-written file; where
  /// there is one (a pipe, a folder that takes no new file), the last line on stderr says so.
  static result<output_file> open(std::string name, bool overwrite,
                                  std::span<std::string const> read = {});
  output_file(output_file&&) noexcept;
  output_file& operator=(output_file&&) = delete;
  /// Removes the file unless finish() has named it.
  ~output_file();

  /// Returns the same error before long work begins. A file may still be created in between.
  static result<void> check(std::string const& name, bool overwrite);

  std::FILE* stream() const noexcept { return file_ != nullptr ? file_.get() : stdout; }
  bool is_standard_output() const noexcept { return file_ == nullptr; }
  void put(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), stream()); }
  /// Gives the file its name and says on stderr which file was written. Fails if it could not be
  /// written completely.
  result<void> finish();

 private:
  using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  output_file(std::string name, file opened, std::string temporary, bool overwrite);

  std::string name_;
  bool overwrite_;
  file file_;
  std::unique_ptr<interruptible_output> interruptible_;  // knows the temporary name
};

}  // namespace gpuprof::host::command

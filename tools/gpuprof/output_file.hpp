// SPDX-License-Identifier: Apache-2.0
// The output of a subcommand: standard output or a file.
#pragma once

#include "base/result.hpp"

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host::command {

class output_file {
 public:
  /// "-" is standard output. Refuses an existing file unless `overwrite` is set, and always a file
  /// in `read`.
  static result<output_file> open(std::string name, bool overwrite,
                                  std::span<std::string const> read = {});

  /// Returns the same error before long work begins. A file may still be created in between.
  static result<void> check(std::string const& name, bool overwrite);

  std::FILE* stream() const noexcept { return file_ != nullptr ? file_.get() : stdout; }
  bool is_standard_output() const noexcept { return file_ == nullptr; }
  void put(std::string_view text) const { std::fwrite(text.data(), 1, text.size(), stream()); }
  /// Says on stderr which file was written. Fails if it could not be written completely.
  result<void> finish() const;

 private:
  using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  output_file(std::string name, file opened) : name_(std::move(name)), file_(std::move(opened)) {}

  std::string name_;
  file file_;
};

}  // namespace gpuprof::host::command

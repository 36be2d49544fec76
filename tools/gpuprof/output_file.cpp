// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gpuprof::host::command {
namespace {

/// Writing to a pipe or /dev/null replaces nothing.
bool is_device(std::string const& name) noexcept {
  std::error_code ignored;  // the file may not exist
  auto const status = std::filesystem::status(name, ignored);
  return std::filesystem::is_character_file(status) || std::filesystem::is_fifo(status);
}

}  // namespace

result<output_file> output_file::open(std::string name, bool overwrite,
                                      std::span<std::string const> read) {
  file opened(nullptr, std::fclose);
  if (name == "-") return output_file("to standard output", std::move(opened));
  std::error_code ignored;  // the file may not exist
  if (std::any_of(read.begin(), read.end(), [&](auto const& file) {
        return std::filesystem::equivalent(name, file, ignored);
      }))
    return error{name + " is the file that is read, nothing is written; use another name for " +
                 "--output"};
  auto const flags = O_WRONLY | O_CREAT | O_CLOEXEC |
                     (is_device(name) ? 0
                      : overwrite     ? O_TRUNC
                                      : O_EXCL);
  auto const descriptor = ::open(name.c_str(), flags, 0666);
  if (descriptor < 0 && errno == EEXIST)
    return error{name +
                 " exists already and is not replaced; use --force-overwrite or another name for "
                 "--output"};
  if (descriptor >= 0) opened.reset(fdopen(descriptor, "w"));
  if (opened == nullptr)
    return error{"cannot write " + name + ": " + std::strerror(errno) +
                 "; choose another place with --output"};
  return output_file(std::move(name), std::move(opened));
}

result<void> output_file::check(std::string const& name, bool overwrite) {
  if (name == "-" || overwrite || is_device(name) || access(name.c_str(), F_OK) != 0) return {};
  auto const refused = open(name, false);
  return refused ? result<void>() : error{refused.message()};
}

result<void> output_file::finish() const {
  if (std::fflush(stream()) != 0 || std::ferror(stream()) != 0)
    return error{"writing " + name_ + " failed: " + std::strerror(errno) + "; it is incomplete"};
  if (!is_standard_output()) std::fprintf(stderr, "gpuprof: wrote %s\n", name_.c_str());
  return {};
}

}  // namespace gpuprof::host::command

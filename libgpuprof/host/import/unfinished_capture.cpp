// SPDX-License-Identifier: Apache-2.0
#include "host/import/unfinished_capture.hpp"

#include "host/import/import_job.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

namespace gpuprof::host {
namespace {

/// In the same folder, so that the rename is one step. The name begins with a dot, so that no glob
/// takes it for a capture.
std::string temporary_for(std::string const& path) {
  std::filesystem::path const whole(path);
  auto const name = "." + whole.filename().string() + ".unfinished-" + std::to_string(getpid());
  return (whole.parent_path() / name).string();
}

[[noreturn]] void cannot_write(std::string const& path, int error) {
  throw import_failure("cannot write " + path + ": " + std::strerror(error) +
                       "; nothing is left of it, choose another place with --output");
}

}  // namespace

unfinished_capture::unfinished_capture(std::string path, bool overwrite)
    : path_(std::move(path)), temporary_(temporary_for(path_)), overwrite_(overwrite) {
  std::error_code ignored;
  auto const there = std::filesystem::status(path_, ignored);
  if (std::filesystem::is_directory(there)) throw import_failure(path_ + " is a folder");
  if (!overwrite && std::filesystem::exists(there))
    throw import_failure(path_ +
                         " exists already and is not replaced; use --force-overwrite or another "
                         "name for --output");
}

unfinished_capture::unfinished_capture(unfinished_capture&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      overwrite_(other.overwrite_) {}

unfinished_capture::~unfinished_capture() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void unfinished_capture::finish() {
  auto const descriptor = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(path_, errno);
  auto error = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  close(descriptor);
  if (error == 0) {
    auto const renamed = renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
                                   overwrite_ ? 0 : RENAME_NOREPLACE);
    // Some file systems support no rename flags.
    if (renamed != 0 && (errno != EINVAL || rename(temporary_.c_str(), path_.c_str()) != 0))
      error = errno;
  }
  if (error != 0) cannot_write(path_, error);
  temporary_.clear();
}

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
#include "host/export/unfinished_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <utility>

namespace gpuprof::host {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

std::string cannot_write(std::string const& path, int error) {
  return "cannot write " + path + ": " + std::strerror(error) +
         "; nothing is left of it, choose another place with --output";
}

/// In the same folder, so that the rename is one step. The name begins with a dot, so that no glob
/// takes it for an export.
std::string temporary_for(std::string const& path) {
  std::filesystem::path const whole(path);
  auto const name = "." + whole.filename().string() + ".unfinished-" + std::to_string(getpid());
  return (whole.parent_path() / name).string();
}

namespace fs = std::filesystem;

std::string cannot_write(std::string const& path, std::error_code const& why) {
  return "cannot write " + path + ": " + why.message() +
         "; nothing is left of it, choose another place with --output";
}

bool may_replace(fs::path const& folder) {
  std::error_code ignored;
  return fs::exists(folder / export_marker, ignored) || fs::is_empty(folder, ignored);
}

}  // namespace

result<unfinished_file> unfinished_file::create(std::string path, bool overwrite) {
  std::error_code ignored;
  auto const there = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(there)) return error{path + " is a folder, not a file"};
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    return error{path + " is no regular file and is not replaced; use another name for --output"};
  if (!overwrite && std::filesystem::exists(there))
    return error{path +
                 " exists already and is not replaced; use --force-overwrite or another name for "
                 "--output"};
  auto temporary = temporary_for(path);
  auto const descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return error{cannot_write(path, errno)};
  return unfinished_file(std::move(path), std::move(temporary), descriptor, overwrite);
}

unfinished_file::unfinished_file(std::string path, std::string temporary, int descriptor,
                                 bool overwrite)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor),
      overwrite_(overwrite) {
  buffer_.reserve(buffer_bytes);
}

unfinished_file::unfinished_file(unfinished_file&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      overwrite_(other.overwrite_),
      error_(other.error_),
      size_(other.size_),
      buffer_(std::move(other.buffer_)) {}

unfinished_file::~unfinished_file() {
  remove();
}

void unfinished_file::put(std::string_view bytes) noexcept {
  size_ += bytes.size();
  if (error_ != 0) return;
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  try {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  } catch (std::bad_alloc const&) {
    error_ = ENOMEM;
  }
}

void unfinished_file::flush() noexcept {
  for (std::size_t at = 0; at < buffer_.size() && error_ == 0;) {
    auto const written = ::write(descriptor_, buffer_.data() + at, buffer_.size() - at);
    if (written >= 0)
      at += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      error_ = errno;
  }
  buffer_.clear();
}

result<void> unfinished_file::finish() {
  flush();
  if (error_ == 0 && fsync(descriptor_) != 0 && errno != EINVAL) error_ = errno;
  if (error_ == 0) {
    auto const renamed = renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
                                   overwrite_ ? 0 : RENAME_NOREPLACE);
    // Some file systems support no rename flags.
    if (renamed != 0 && (errno != EINVAL || rename(temporary_.c_str(), path_.c_str()) != 0))
      error_ = errno;
  }
  if (error_ == 0) temporary_.clear();
  remove();
  return error_ == 0 ? result<void>() : error{cannot_write(path_, error_)};
}

void unfinished_file::remove() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  temporary_.clear();
}

result<unfinished_folder> unfinished_folder::create(std::string path, bool overwrite) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::error_code failed;
  if (fs::exists(path, failed)) {
    if (!fs::is_directory(path, failed)) return error{path + " is a file, not a folder"};
    if (!overwrite && !fs::is_empty(path, failed))
      return error{path +
                   " exists already and is not replaced; use --force-overwrite or another name "
                   "for --output"};
    if (!may_replace(path))
      return error{path +
                   " holds files that no export has written and is not replaced; use "
                   "another name for --output"};
  }
  fs::path const whole(path);
  auto temporary = (whole.parent_path() /
                    ("." + whole.filename().string() + ".unfinished-" + std::to_string(getpid())))
                       .string();
  fs::remove_all(temporary, failed);
  if (!fs::create_directories(temporary, failed)) return error{cannot_write(path, failed)};
  std::ofstream(temporary + "/" + export_marker) << "made by gpuprof export\n";
  return unfinished_folder(std::move(path), std::move(temporary), overwrite);
}

unfinished_folder::unfinished_folder(std::string path, std::string temporary, bool overwrite)
    : path_(std::move(path)), temporary_(std::move(temporary)), overwrite_(overwrite) {}

unfinished_folder::unfinished_folder(unfinished_folder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      overwrite_(other.overwrite_) {}

unfinished_folder::~unfinished_folder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

result<void> unfinished_folder::finish() {
  std::error_code failed;
  // Keeps files that others put there meanwhile. The rename itself can replace an empty folder.
  if (overwrite_ && fs::exists(path_, failed) && may_replace(path_)) fs::remove_all(path_, failed);
  if (!failed) fs::rename(temporary_, path_, failed);
  if (failed) return error{cannot_write(path_, failed)};
  temporary_.clear();
  return {};
}

}  // namespace gpuprof::host

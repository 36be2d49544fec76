// SPDX-License-Identifier: Apache-2.0
#include "base/cache_file.hpp"

#include "base/process.hpp"
#include "base/quiet_write.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace gpuprof {
namespace {

class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  int get() const noexcept { return number_; }

 private:
  int const number_;
};

bool write_all(int file, std::string_view text) {
  quiet_write const here;
  while (!text.empty()) {
    auto const count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return ::fsync(file) == 0;
}

text_or_errno read_all(int file, std::size_t limit) {
  text_or_errno whole;
  char piece[16384];
  for (;;) {
    auto const count = ::read(file, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {{}, errno};
    if (count == 0) return whole;
    whole.text.append(piece, static_cast<std::size_t>(count));
    if (whole.text.size() > limit) return {{}, EFBIG};
  }
}

}  // namespace

std::string cache_folder(std::string_view kind) {
  auto const in = [kind](std::string const& cache) { return (cache + "/gpuprof/").append(kind); };
  // The XDG specification says that a relative path must be ignored.
  if (auto const cache = environment("XDG_CACHE_HOME"); cache.starts_with('/')) return in(cache);
  if (auto const home = environment("HOME"); !home.empty()) return in(home + "/.cache");
  return {};
}

std::string as_file_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '/' || c == '\0' || c == '.'; }, '_');
  return text;
}

std::uint64_t stable_hash(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char const c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

text_or_errno read_whole_file(std::string const& path, std::size_t limit) {
  descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.get() < 0 ? text_or_errno{{}, errno} : read_all(file.get(), limit);
}

// Reads the same open file that it checked, because another file may get the name in between.
text_or_errno read_own_file(std::string const& path, std::size_t limit) {
  descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) return {{}, errno};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return {{}, errno};
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return {{}, EPERM};
  return read_all(file.get(), limit);
}

int replace_file(std::string const& folder, std::string const& path, std::string_view text) {
  std::error_code refused;
  std::filesystem::create_directories(folder, refused);
  if (refused) return refused.value();
  auto beside = path + ".XXXXXX";
  descriptor const file(::mkostemp(beside.data(), O_CLOEXEC));
  if (file.get() < 0) return errno;
  if (write_all(file.get(), text) && std::rename(beside.c_str(), path.c_str()) == 0) return 0;
  auto const failure = errno;
  ::unlink(beside.c_str());
  return failure;
}

}  // namespace gpuprof

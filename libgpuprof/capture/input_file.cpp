// SPDX-License-Identifier: Apache-2.0
#include "capture/input_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gpuprof::capture {

result<input_file> input_file::open(std::string const& path) {
  auto const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  char buffer[128];
  if (descriptor < 0) {
    return error{"cannot open '" + path + "': " + strerror_r(errno, buffer, sizeof buffer)};
  }
  input_file file{descriptor, 0};
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return error{"cannot read '" + path + "': it is not a regular file"};
  }
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

input_file::input_file(input_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

input_file& input_file::operator=(input_file&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

input_file::~input_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool input_file::read(std::uint64_t offset, std::span<unsigned char> to) const noexcept {
  while (!to.empty()) {
    auto const count = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    offset += static_cast<std::uint64_t>(count);
    to = to.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace gpuprof::capture

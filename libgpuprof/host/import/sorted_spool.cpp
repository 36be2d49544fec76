// SPDX-License-Identifier: Apache-2.0
#include "host/import/sorted_spool.hpp"

#include "host/import/import_job.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gpuprof::host {
namespace {

[[noreturn]] void fail(std::string const& folder, int error) {
  throw import_failure("cannot keep records in " + folder +
                       " for a while: " + std::strerror(error) +
                       "; nothing is written, free space there or choose another --output");
}

/// A write beyond the limit would end the process with SIGXFSZ.
bool exceeds_size_limit(std::uint64_t size) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         size > limit.rlim_cur;
}

}  // namespace

spool_file::~spool_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

void spool_file::open() {
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  // Some file systems do not support unnamed files.
  auto name = folder_ + "/.gpuprof-import-XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(folder_, errno);
  unlink(name.c_str());
}

std::uint64_t spool_file::append(std::span<std::byte const> bytes) {
  if (descriptor_ < 0) open();
  if (exceeds_size_limit(size_ + bytes.size())) fail(folder_, EFBIG);
  auto const at = size_;
  while (!bytes.empty()) {
    auto const count = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(folder_, count == 0 ? EIO : errno);
    size_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return at;
}

void spool_file::read(std::uint64_t from, std::span<std::byte> into) const {
  while (!into.empty()) {
    auto const count = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(folder_, count == 0 ? EIO : errno);
    from += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace gpuprof::host

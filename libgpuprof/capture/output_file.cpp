// SPDX-License-Identifier: Apache-2.0
#include "capture/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace gpuprof::capture {
namespace {

flock whole_file(short type) noexcept {
  flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

error cannot_create(std::string const& path, std::string const& reason, char const* advice) {
  return {"cannot create capture file '" + path + "': " + reason + "; nothing is recorded; " +
          advice};
}

error being_written(std::string const& path) {
  return cannot_create(path, "another process is writing it",
                       "choose another --output, for instance with %p for the process id");
}

std::string text_of(int number) {
  char buffer[128];
  return strerror_r(number, buffer, sizeof buffer);
}

/// Returns false if another process has locked the file. Ignores file systems without locks
/// (ENOLCK, EINVAL), so that they can still be used.
bool lock(own_descriptor const& file) noexcept {
  auto whole = whole_file(F_WRLCK);
  return fcntl(file.get(), F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

/// Returns false if the path refers to another file, or to none, since this one was opened.
bool has_name(own_descriptor const& file, std::string const& path) noexcept {
  struct stat named {
  }, opened{};
  return lstat(path.c_str(), &named) == 0 && fstat(file.get(), &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/// Removes an existing file instead of overwriting it: it may have another owner, other readers or
/// other names. Locks it first, so that a process does not remove the new file of another one.
result<void> remove_old(std::string const& path) {
  struct stat named {};
  if (lstat(path.c_str(), &named) != 0 && errno == ENOENT) return {};
  if (S_ISLNK(named.st_mode)) {
    return cannot_create(path, "it is a link, which is not followed",
                         "remove it or choose another --output");
  }
  // O_NONBLOCK, because opening a FIFO would wait for its reader.
  own_descriptor const old{
      ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (old.get() < 0) return cannot_create(path, text_of(errno), "choose a writable --output");
  struct stat opened {};
  if (fstat(old.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) {
    return cannot_create(path, "not a regular file", "choose a regular file as --output");
  }
  if (!lock(old) || !has_name(old, path)) return being_written(path);
  if (unlink(path.c_str()) != 0) {
    return cannot_create(path, text_of(errno), "choose a writable --output");
  }
  return {};
}

// Writing past RLIMIT_FSIZE also sends SIGXFSZ, which would end the profiled program.
bool exceeds_size_limit(std::uint64_t size) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         size > limit.rlim_cur;
}

}  // namespace

result<output_file> output_file::create(std::string const& path, create_mode mode) {
  if (mode == create_mode::overwrite) {
    if (auto const removed = remove_old(path); !removed) return error{removed.message()};
  }
  // O_EXCL does not follow links either.
  own_descriptor descriptor{
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600)};
  if (descriptor.get() < 0) {
    auto const exists = errno == EEXIST;
    return cannot_create(
        path, text_of(errno),
        exists ? "choose another --output or add --force-overwrite" : "choose a writable --output");
  }
  // Another process may have removed and replaced the file before it was locked.
  if (!lock(descriptor) || !has_name(descriptor, path)) return being_written(path);
  return output_file{std::move(descriptor)};
}

int output_file::append(std::span<unsigned char const> bytes) noexcept {
  auto const descriptor = descriptor_.get();
  if (descriptor < 0) return EBADF;
  if (exceeds_size_limit(size_ + bytes.size())) return EFBIG;
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto const count = pwrite(descriptor, bytes.data() + done, bytes.size() - done,
                              static_cast<off_t>(size_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      auto const reason = count == 0 ? EIO : errno;
      // Truncates to the last whole batch. If even this fails, the reader reports a truncated end.
      if (ftruncate(descriptor, static_cast<off_t>(size_)) != 0) return reason;
      return reason;
    }
    done += static_cast<std::size_t>(count);
  }
  size_ += bytes.size();
  return 0;
}

std::optional<disk_space> output_file::space() const noexcept {
  auto const descriptor = descriptor_.get();
  struct statvfs disk {};
  if (descriptor < 0 || fstatvfs(descriptor, &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return disk_space{std::uint64_t{disk.f_blocks} * disk.f_frsize,
                    std::uint64_t{disk.f_bavail} * disk.f_frsize};
}

bool has_living_writer(int descriptor) noexcept {
  auto lock = whole_file(F_RDLCK);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace gpuprof::capture

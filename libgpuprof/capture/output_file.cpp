#include "capture/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

std::string text_of(int number) {
  char buffer[128];
  return strerror_r(number, buffer, sizeof buffer);
}

// Writing past RLIMIT_FSIZE does not just fail: it sends SIGXFSZ, which would end the program whose
// guest this is.
bool exceeds_size_limit(std::uint64_t size) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         size > limit.rlim_cur;
}

}  // namespace

result<output_file> output_file::create(std::string const& path, create_mode mode) {
  auto const exclusive = mode == create_mode::fail_if_exists ? O_EXCL : 0;
  // No O_TRUNC: the file must not lose its content before the lock is ours. O_NONBLOCK: opening a
  // FIFO would wait for its reader.
  auto const descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | exclusive, 0666);
  if (descriptor < 0) {
    auto const exists = errno == EEXIST;
    return cannot_create(
        path, text_of(errno),
        exists ? "choose another --output or add --force-overwrite" : "choose a writable --output");
  }
  output_file file{descriptor};
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return cannot_create(path, "not a regular file", "choose a regular file as --output");
  }
  auto lock = whole_file(F_WRLCK);
  // A file system without locks (ENOLCK, EINVAL) is no reason to record nothing.
  if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) {
    return cannot_create(path, "another process is writing it",
                         "choose another --output, for instance with %p for the process id");
  }
  if (ftruncate(descriptor, 0) != 0) {
    return cannot_create(path, text_of(errno), "choose a writable --output");
  }
  return file;
}

output_file::output_file(output_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

output_file& output_file::operator=(output_file&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

output_file::~output_file() {
  close();
}

int output_file::append(std::span<unsigned char const> bytes) noexcept {
  if (descriptor_ < 0) return EBADF;
  if (exceeds_size_limit(size_ + bytes.size())) return EFBIG;
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto const count = pwrite(descriptor_, bytes.data() + done, bytes.size() - done,
                              static_cast<off_t>(size_ + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      auto const reason = count == 0 ? EIO : errno;
      // Back to the last whole batch. Should even this fail, the reader reports a truncated tail.
      if (ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) return reason;
      return reason;
    }
    done += static_cast<std::size_t>(count);
  }
  size_ += bytes.size();
  return 0;
}

void output_file::close() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool has_living_writer(int descriptor) noexcept {
  auto lock = whole_file(F_RDLCK);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace gpuprof::capture

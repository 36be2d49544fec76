// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include "terminal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gpuprof::host::command {
namespace {

namespace fs = std::filesystem;

/// Writing to a pipe or /dev/null replaces nothing.
bool is_device(std::string const& name) noexcept {
  std::error_code ignored;  // the file may not exist
  auto const status = fs::status(name, ignored);
  return fs::is_character_file(status) || fs::is_fifo(status);
}

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

extern "C" void end_output(int number);

}  // namespace

/// While it lives, a signal that ends the program removes the temporary file, says in one line what
/// became of the output, and then ends the program as it would have without us.
class interruptible_output {
 public:
  /// `temporary` is empty if the output is written in its place.
  interruptible_output(std::string const& name, std::string temporary)
      : temporary_(std::move(temporary)),
        line_("gpuprof: interrupted, " +
              (temporary_.empty() ? "the output " + name + " is incomplete"
                                  : name + " was not written") +
              "\n") {
    current.store(this);
    struct sigaction ending {};
    ending.sa_handler = end_output;
    for (std::size_t i = 0; i < std::size(ending_signals); ++i) {
      sigaction(ending_signals[i], nullptr, &before_[i]);
      // Not where it is ignored, as by nohup, or noted by another part of the command.
      if (before_[i].sa_handler == SIG_DFL) sigaction(ending_signals[i], &ending, nullptr);
    }
  }
  interruptible_output(interruptible_output const&) = delete;
  interruptible_output& operator=(interruptible_output const&) = delete;
  ~interruptible_output() {
    for (std::size_t i = 0; i < std::size(ending_signals); ++i)
      sigaction(ending_signals[i], &before_[i], nullptr);
    current.store(nullptr);
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }

  std::string const& temporary() const noexcept { return temporary_; }
  void is_named() noexcept { temporary_.clear(); }

  /// Calls only what a signal handler may call.
  void end() const noexcept {
    if (!temporary_.empty()) unlink(temporary_.c_str());
    [[maybe_unused]] auto const ignored = write(STDERR_FILENO, line_.data(), line_.size());
  }

  static std::atomic<interruptible_output const*> current;

 private:
  std::string temporary_;  // empty: there is none, or it has got its name
  std::string const line_;
  std::array<struct sigaction, std::size(ending_signals)> before_{};
};

std::atomic<interruptible_output const*> interruptible_output::current{nullptr};

namespace {

extern "C" void end_output(int number) {
  if (auto const* const output = interruptible_output::current.load()) output->end();
  std::signal(number, SIG_DFL);
  raise(number);
}

error cannot_write(std::string const& name) {
  return error{"cannot write " + name + ": " + std::strerror(errno) +
               "; choose another place with --output"};
}

error exists_already(std::string const& name) {
  return error{name +
               " exists already and is not replaced; use --force-overwrite or another name for "
               "--output"};
}

/// The name of the file itself, not of a link to it: the file is replaced, the link stays.
std::string followed(std::string const& name) {
  std::error_code failed;
  auto const real = fs::canonical(name, failed);
  return failed ? name : real.string();
}

/// In the same folder, so that the rename is one step. The name begins with a dot, so that no glob
/// takes it for a report.
std::string temporary_for(std::string const& name) {
  fs::path const whole(name);
  auto const file = "." + whole.filename().string() + ".unfinished-" + std::to_string(getpid());
  return (whole.parent_path() / file).string();
}

bool give_name(std::string const& temporary, std::string const& name, bool overwrite) noexcept {
  if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, name.c_str(),
                overwrite ? 0 : RENAME_NOREPLACE) == 0)
    return true;
  // Some file systems support no rename flags.
  return errno == EINVAL && rename(temporary.c_str(), name.c_str()) == 0;
}

}  // namespace

output_file::output_file(std::string name, file opened, std::string temporary, bool overwrite)
    : name_(std::move(name)), overwrite_(overwrite), file_(std::move(opened)) {
  if (file_ != nullptr || !is_terminal(stdout))
    interruptible_ = std::make_unique<interruptible_output>(
        file_ == nullptr || !temporary.empty() ? name_ : "to " + name_, std::move(temporary));
}

output_file::output_file(output_file&&) noexcept = default;
output_file::~output_file() = default;

result<output_file> output_file::open(std::string name, bool overwrite,
                                      std::span<std::string const> read) {
  file opened(nullptr, std::fclose);
  if (name == "-") return output_file("to standard output", std::move(opened), {}, false);
  std::error_code ignored;  // the file may not exist
  if (std::any_of(read.begin(), read.end(),
                  [&](auto const& file) { return fs::equivalent(name, file, ignored); }))
    return error{name + " is the file that is read, nothing is written; use another name for " +
                 "--output"};
  auto const open_with = [&](std::string const& path, int flags) {
    auto const descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    if (descriptor >= 0) opened.reset(fdopen(descriptor, "w"));
    return opened != nullptr;
  };
  if (is_device(name)) {
    if (!open_with(name, 0)) return cannot_write(name);
    return output_file(std::move(name), std::move(opened), {}, overwrite);
  }
  auto const is_there = fs::exists(fs::symlink_status(name, ignored));
  if (is_there && !overwrite) return exists_already(name);
  // A folder, or a file that may not be changed, is refused before the work.
  if (fs::is_directory(name, ignored) || (access(name.c_str(), W_OK) != 0 && errno != ENOENT)) {
    if (fs::is_directory(name, ignored)) errno = EISDIR;
    return cannot_write(name);
  }
  auto temporary = temporary_for(followed(name));
  if (!open_with(temporary, O_TRUNC | O_NOFOLLOW)) {
    temporary.clear();  // the folder takes no new file, or no name as long
    if (!open_with(name, overwrite ? O_TRUNC : O_EXCL)) return cannot_write(name);
  } else if (struct stat replaced{}; is_there && stat(name.c_str(), &replaced) == 0) {
    // The new file takes the place of the old one, and may be read by the same users.
    [[maybe_unused]] auto const failed = fchmod(fileno(opened.get()), replaced.st_mode & 0777);
  }
  return output_file(std::move(name), std::move(opened), std::move(temporary), overwrite);
}

result<void> output_file::check(std::string const& name, bool overwrite) {
  if (name == "-" || overwrite || is_device(name) || access(name.c_str(), F_OK) != 0) return {};
  auto const refused = open(name, false);
  return refused ? result<void>() : error{refused.message()};
}

result<void> output_file::finish() {
  auto const temporary = interruptible_ == nullptr ? std::string() : interruptible_->temporary();
  auto const left = temporary.empty() ? "it is incomplete" : "nothing is left of it";
  if (std::fflush(stream()) != 0 || std::ferror(stream()) != 0)
    return error{"writing " + name_ + " failed: " + std::strerror(errno) + "; " + left};
  if (!temporary.empty()) {
    if (!give_name(temporary, followed(name_), overwrite_))
      return errno == EEXIST ? exists_already(name_) : cannot_write(name_);
    interruptible_->is_named();
  }
  if (!is_standard_output()) std::fprintf(stderr, "gpuprof: wrote %s\n", name_.c_str());
  return {};
}

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/parquet_program.hpp"

#include "base/process.hpp"
#include "base/result.hpp"
#include "host/export/interruption.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <new>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace gpuprof::host {
namespace {

/// A child process that works for the command. Its stdout is read by lines; its stderr is that of
/// the command.
class child_program {
 public:
  static result<child_program> start(std::vector<std::string> const& words);
  child_program(child_program&&) noexcept;
  child_program& operator=(child_program&&) = delete;
  /// Tells a child that still runs to stop, and waits for it.
  ~child_program();

  /// Calls `line` for each line until stdout ends, and `idle` if no line came for a while. If these
  /// throw, the child is ended.
  void read(std::function<void(std::string const&)> const& line, std::function<void()> const& idle);
  /// Returns its exit code; 128 + the signal that ended it; cannot_tell if the system does not say.
  static constexpr int cannot_tell = 125;
  int wait();

 private:
  child_program(pid_t process, int from) : process_(process), from_(from) {}
  pid_t process_;  // 0: already waited for
  int from_;
};

// A signal that comes between two polls is noticed this much later.
constexpr int look_every_ms = 100;

result<child_program> child_program::start(std::vector<std::string> const& words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error{std::string("no pipe: ") + std::strerror(errno)};
  std::vector<char*> arguments;
  for (auto const& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t process = 0;
  auto const failed =
      posix_spawn(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed == 0) return child_program(process, ends[0]);
  close(ends[0]);
  return error{"cannot start " + words[0] + ": " + std::strerror(failed)};
}

child_program::child_program(child_program&& other) noexcept
    : process_(std::exchange(other.process_, 0)), from_(std::exchange(other.from_, -1)) {}

child_program::~child_program() {
  if (process_ > 0) kill(process_, SIGTERM);
  if (from_ >= 0) close(from_);
  wait();
}

void child_program::read(std::function<void(std::string const&)> const& line,
                         std::function<void()> const& idle) {
  std::string text;
  char bytes[4096];
  for (;;) {
    pollfd ready{from_, POLLIN, 0};
    if (poll(&ready, 1, look_every_ms) <= 0) {
      idle();
      continue;
    }
    auto const count = ::read(from_, bytes, sizeof bytes);
    if (count == 0 || (count < 0 && errno != EINTR)) return;
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[i] != '\n')
        text += bytes[i];
      else
        line(std::exchange(text, {}));
    }
  }
}

int child_program::wait() {
  int status = 0;
  if (process_ <= 0) return 0;
  int ended = 0;
  while ((ended = waitpid(process_, &status, 0)) < 0 && errno == EINTR) {
  }
  process_ = 0;
  if (ended < 0) return cannot_tell;  // the parent process made us ignore SIGCHLD
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

constexpr char how_to_get_it[] =
    "build gpuprof again where CMake finds Arrow: pip install pyarrow==" GPUPROF_PYARROW_VERSION
    ", then cmake -DGPUPROF_PYARROW=FOLDER of that environment; --type csv needs nothing";

constexpr char in_python[] =
    "python3 -c 'import libgpuprof as gp, pyarrow as pa, pyarrow.parquet as pq; "
    "pq.write_table(pa.table(gp.open(\"run.gpuprof\").kernels), \"kernels.parquet\")'";

struct plugin_answer {
  std::string failure;
  std::vector<std::string> missing;
};

void take_line(std::string const& line, export_job& job, plugin_answer& answer) {
  auto const blank = std::min(line.find(' '), line.size());
  auto const word = std::string_view(line).substr(0, blank);
  auto const text = line.substr(std::min(blank + 1, line.size()));
  if (word == plugin_words::rows) {
    std::uint64_t rows = 0;
    std::from_chars(text.data(), text.data() + text.size(), rows);
    job.advance(rows);
  } else if (word == plugin_words::missing) {
    answer.missing.push_back(text);
  } else if (word == plugin_words::error) {
    answer.failure = text;
  }
}

/// Explains a failure if only the exit code is known.
std::string reason_of(int code) {
  if (code == 127)
    return "export-parquet does not start; it was built against Arrow " GPUPROF_ARROW_BUILT
           " and needs the libraries of that version where they were: " +
           std::string(how_to_get_it);
  return "export-parquet ended with " + std::to_string(code) +
         " and said no more; nothing was written, --type csv has the same tables";
}

}  // namespace

result<std::string> parquet_program() {
  auto const beside = std::filesystem::path(program_path()).parent_path();
  for (auto const& place : {beside / GPUPROF_PLUGINS_FROM_BIN, beside}) {
    auto const file = (place / "export-parquet").lexically_normal();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return file.string();
  }
  return error{
      std::string("this gpuprof was built without its program export-parquet, so it cannot "
                  "write Parquet; the Python packages libgpuprof and pyarrow can: ") +
      in_python + "; or " + how_to_get_it};
}

result<void> run_parquet_program(export_job& job, plugin_order const& order) {
  auto const program = parquet_program();
  if (!program) return error{program.message()};
  auto words = order.words();
  words.insert(words.begin(), *program);
  auto started = child_program::start(words);
  if (!started) return error{started.message() + "; " + how_to_get_it};
  plugin_answer answer;
  started->read([&](std::string const& line) { take_line(line, job, answer); },
                [&] { job.advance(0); });
  auto const code = started->wait();
  if (code == plugin_words::needs_more_memory) throw std::bad_alloc();
  if (auto const signal = interruption::signal(); code != 0 && signal != 0)
    throw export_interrupted{signal};
  if (!answer.failure.empty()) return error{answer.failure};
  if (code != 0) return error{reason_of(code)};
  job.missing = std::move(answer.missing);
  return {};
}

}  // namespace gpuprof::host

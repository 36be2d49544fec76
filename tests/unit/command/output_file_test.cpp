// SPDX-License-Identifier: Apache-2.0
// Output of commands that is interrupted: no half file under the name that was asked for.
#include "output_file.hpp"

#include "support/catch.hpp"
#include "support/scratch_folder.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host::command;
using namespace gpuprof::test;

namespace {

std::string text_in(std::string const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(std::string const& path, std::string const& text) {
  std::ofstream(path) << text;
}

/// The names in a folder, hidden ones too, but for what the child process said.
std::vector<std::string> names_in(scratch_folder const& folder) {
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder / ""))
    if (entry.path().filename() != "said") names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

struct ended {
  int signal = 0, code = 0;
  std::string said;  // on stderr
};

/// Runs `act` in a child process, which ends with its answer, or by a signal.
ended in_child(scratch_folder const& folder, std::function<int()> const& act) {
  auto const said = folder / "said";
  auto const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (auto const number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
    if (std::freopen(said.c_str(), "w", stderr) == nullptr) _exit(99);
    auto const answer = act();
    std::fflush(stderr);
    _exit(answer);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0,
          text_in(said)};
}

/// Writes a part, is interrupted, and would then go on to the end.
int write_with(std::string const& name, bool overwrite, int signal) {
  auto out = output_file::open(name, overwrite);
  if (!out) return 1;
  out->put("the first half, ");
  std::fflush(out->stream());
  if (signal != 0) std::raise(signal);
  out->put("the second half");
  return out->finish() ? 0 : 1;
}

}  // namespace

TEST_CASE("an interrupted output leaves no file, says so, and ends the program by the signal") {
  scratch_folder const folder;
  for (auto const signal : {SIGINT, SIGTERM, SIGHUP}) {
    auto const run = in_child(folder, [&] { return write_with(folder / "t.csv", false, signal); });
    CHECK(run.signal == signal);
    CHECK(run.said == "gpuprof: interrupted, " + (folder / "t.csv") + " was not written\n");
    CHECK(names_in(folder).empty());
  }
}

TEST_CASE("an interrupted output keeps the file that it was to replace") {
  scratch_folder const folder;
  write_text(folder / "t.csv", "of yesterday");
  auto const cut = in_child(folder, [&] { return write_with(folder / "t.csv", true, SIGINT); });
  CHECK(cut.signal == SIGINT);
  CHECK(text_in(folder / "t.csv") == "of yesterday");
  auto const whole = in_child(folder, [&] { return write_with(folder / "t.csv", true, 0); });
  CHECK(whole.code == 0);
  CHECK(text_in(folder / "t.csv") == "the first half, the second half");
  CHECK(whole.said == "gpuprof: wrote " + (folder / "t.csv") + "\n");
  CHECK(names_in(folder) == std::vector<std::string>{"t.csv"});
}

TEST_CASE("a file that replaces another one may be read by the same users") {
  using std::filesystem::perms;
  scratch_folder const folder;
  write_text(folder / "t.csv", "of yesterday");
  auto const mine = perms::owner_read | perms::owner_write;
  std::filesystem::permissions(folder / "t.csv", mine);
  auto out = output_file::open(folder / "t.csv", true);
  REQUIRE(out);
  out->put("a line");
  REQUIRE(out->finish());
  CHECK(text_in(folder / "t.csv") == "a line");
  CHECK(std::filesystem::status(folder / "t.csv").permissions() == mine);
}

TEST_CASE("a file has its name only when it is complete") {
  scratch_folder const folder;
  {
    auto out = output_file::open(folder / "t.csv", false);
    REQUIRE(out);
    out->put("a line");
    CHECK_FALSE(std::filesystem::exists(folder / "t.csv"));
    REQUIRE(out->finish());
    CHECK(text_in(folder / "t.csv") == "a line");
  }
  {
    auto const given_up = output_file::open(folder / "u.csv", false);
    REQUIRE(given_up);
  }
  CHECK(names_in(folder) == std::vector<std::string>{"t.csv"});
}

TEST_CASE("a file that came meanwhile is not replaced") {
  scratch_folder const folder;
  auto out = output_file::open(folder / "t.csv", false);
  REQUIRE(out);
  write_text(folder / "t.csv", "of somebody else");
  auto const done = out->finish();
  REQUIRE_FALSE(done);
  CHECK(done.message().find("exists already and is not replaced") != std::string::npos);
  CHECK(text_in(folder / "t.csv") == "of somebody else");
}

TEST_CASE("where the output cannot be written aside, the last line says that it is incomplete") {
  scratch_folder const folder;
  auto const long_name = folder / std::string(250, 'n');  // no room for ".unfinished"
  auto const cut = in_child(folder, [&] { return write_with(long_name, false, SIGINT); });
  CHECK(cut.signal == SIGINT);
  CHECK(cut.said == "gpuprof: interrupted, the output to " + long_name + " is incomplete\n");
  auto const to_pipe = in_child(folder, [&] {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return 2;
    return write_with("-", false, SIGTERM);
  });
  CHECK(to_pipe.signal == SIGTERM);
  CHECK(to_pipe.said == "gpuprof: interrupted, the output to standard output is incomplete\n");
}

TEST_CASE("a signal that the program ignores does not interrupt its output") {
  scratch_folder const folder;
  auto const run = in_child(folder, [&] {
    std::signal(SIGHUP, SIG_IGN);  // as nohup does
    return write_with(folder / "t.csv", false, SIGHUP);
  });
  CHECK(run.code == 0);
  CHECK(run.signal == 0);
  CHECK(text_in(folder / "t.csv") == "the first half, the second half");
}

TEST_CASE("after its output the program handles signals as before") {
  scratch_folder const folder;
  auto const run = in_child(folder, [&] {
    if (write_with(folder / "t.csv", false, 0) != 0) return 1;
    std::raise(SIGINT);
    return 0;
  });
  CHECK(run.signal == SIGINT);
  CHECK(run.said.find("interrupted") == std::string::npos);
  CHECK(names_in(folder) == std::vector<std::string>{"t.csv"});
}

TEST_CASE("behind a link the file is replaced, and the link stays") {
  scratch_folder const folder;
  write_text(folder / "file", "old");
  std::filesystem::create_symlink("file", folder / "link");
  auto const refused = output_file::open(folder / "link", false);
  CHECK_FALSE(refused);
  auto out = output_file::open(folder / "link", true);
  REQUIRE(out);
  out->put("new");
  REQUIRE(out->finish());
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(text_in(folder / "file") == "new");
}

TEST_CASE("a folder in the place of the file is refused before the work") {
  scratch_folder const folder;
  std::filesystem::create_directory(folder / "t.csv");
  auto const refused = output_file::open(folder / "t.csv", true);
  REQUIRE_FALSE(refused);
  CHECK(refused.message().find("Is a directory") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
// Whose turn it is at a GPU's counters, among real processes.
#include "guest/counters/device_turn.hpp"

#include "guest/counters/windows/pm_sampler.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"
#include "support/other_process.hpp"
#include "support/scratch_folder.hpp"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

constexpr char const* gpu = "GPU-1b2c";

std::string lock_file(scratch_folder const& folder, std::string const& of = gpu) {
  return folder / ("gpuprof-" + std::to_string(geteuid()) + "-" + of + ".lock");
}

bool takes(std::string const& folder, char const* of = gpu) {
  static auto& turns = *new device_turns(folder);
  static std::optional<device_turn> kept;  // as long as the process lives
  auto turn = turns.try_take(of);
  if (!turn) return false;
  kept.emplace(std::move(*turn));
  return true;
}

}  // namespace

TEST_CASE(
    "one process has the turn, another learns its holder, and gets it when the holder is killed") {
  scratch_folder const scratch;
  auto const folder = scratch / "";
  device_turns ours(folder);
  other_process holder([&] { return takes(folder); });
  REQUIRE(holder.succeeded());
  CHECK_FALSE(ours.try_take(gpu));
  CHECK(ours.holder(gpu).find("gpuprof in process " + std::to_string(holder.id()) + " (") == 0);
  holder.kill();
  CHECK(ours.holder(gpu).empty());
  CHECK(ours.try_take(gpu));
}

TEST_CASE("a turn ends with its object, and each GPU has one") {
  scratch_folder const scratch;
  auto const folder = scratch / "";
  device_turns ours(folder);
  {
    auto const turn = ours.try_take(gpu);
    REQUIRE(turn);
    CHECK_FALSE(other_process([&] { return takes(folder); }).succeeded());
    CHECK(other_process([&] { return takes(folder, "GPU-other"); }).succeeded());
  }
  CHECK(other_process([&] { return takes(folder); }).succeeded());
}

TEST_CASE("several turns of one process end with the last of them") {
  scratch_folder const scratch;
  auto const folder = scratch / "";
  device_turns ours(folder);
  auto first = ours.try_take(gpu);
  auto second = ours.try_take(gpu);
  REQUIRE((first && second));
  CHECK(ours.holder(gpu).empty());
  first.reset();
  CHECK_FALSE(other_process([&] { return takes(folder); }).succeeded());
  second.reset();
  CHECK(other_process([&] { return takes(folder); }).succeeded());
}

TEST_CASE("a forked child has no turn, and does not block others") {
  scratch_folder const scratch;
  auto const folder = scratch / "";
  device_turns ours(folder);
  pid_t child = 0;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  other_process holder([&] {
    if (!takes(folder)) return false;
    auto const made = fork();
    if (made == 0)
      for (;;) pause();
    return write(ends[1], &made, sizeof made) == sizeof made;
  });
  REQUIRE(holder.succeeded());
  REQUIRE(read(ends[0], &child, sizeof child) == sizeof child);
  close(ends[0]);
  close(ends[1]);
  CHECK_FALSE(ours.try_take(gpu));
  holder.kill();
  CHECK(kill(child, 0) == 0);  // it lives
  CHECK(ours.try_take(gpu));
  kill(child, SIGKILL);
}

TEST_CASE("a program that calls exec loses its turn") {
  scratch_folder const scratch;
  auto const folder = scratch / "";
  device_turns ours(folder);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  auto const process = fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    if (!takes(folder)) _exit(1);
    dup2(ends[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", "echo; exec sleep 60", static_cast<char*>(nullptr));
    _exit(1);
  }
  close(ends[1]);
  char said = 0;
  REQUIRE(read(ends[0], &said, 1) == 1);
  close(ends[0]);
  CHECK(ours.try_take(gpu));
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

TEST_CASE("a turn that is over leaves no file behind") {
  scratch_folder const scratch;
  device_turns ours(scratch / "");
  CHECK(ours.try_take(gpu));
  CHECK(std::filesystem::is_empty(scratch / ""));
}

TEST_CASE("processes that start and end at the same time get their turns one by one") {
  scratch_folder const scratch;
  auto const folder = scratch / "", mark = scratch / "mark";
  std::vector<pid_t> processes;
  for (int i = 0; i < 4; ++i) {
    processes.push_back(fork());
    REQUIRE(processes.back() >= 0);
    if (processes.back() != 0) continue;
    device_turns turns(folder);
    for (int done = 0; done < 200;) {
      auto const turn = turns.try_take(gpu);
      if (!turn) continue;
      // Exclusive: fails where another is in its turn.
      auto const file = open(mark.c_str(), O_CREAT | O_EXCL, 0600);
      if (file < 0 || close(file) != 0 || unlink(mark.c_str()) != 0) _exit(1);
      ++done;
    }
    _exit(0);
  }
  for (auto const process : processes) {
    int how = 0;
    REQUIRE(waitpid(process, &how, 0) == process);
    CHECK((WIFEXITED(how) && WEXITSTATUS(how) == 0));
  }
}

TEST_CASE(
    "if the file cannot be made, or something else is in its place, every process has a turn") {
  scratch_folder const scratch;
  device_turns nowhere(scratch / "missing");
  CHECK(nowhere.try_take(gpu));
  CHECK(nowhere.holder(gpu).empty());

  device_turns ours(scratch / "");
  REQUIRE(mkfifo(lock_file(scratch).c_str(), 0666) == 0);
  CHECK(ours.try_take(gpu));
  CHECK(ours.try_take(""));

  std::ofstream(scratch / "precious") << "text";
  std::filesystem::create_symlink(scratch / "precious", lock_file(scratch, "GPU-link"));
  CHECK(ours.try_take("GPU-link"));
}

TEST_CASE("only its user may access the file") {
  scratch_folder const scratch;
  auto const before = umask(0);
  device_turns ours(scratch / "");
  auto const turn = ours.try_take(gpu);
  CHECK(turn);
  umask(before);
  struct stat status {};
  REQUIRE(stat(lock_file(scratch).c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a locked file of another user blocks no process") {
  scratch_folder const scratch;
  auto const file = lock_file(scratch);
  other_process const holder([&] {
    auto const opened = open(file.c_str(), O_RDWR | O_CREAT, 0666);
    auto whole = flock{};
    whole.l_type = F_WRLCK;
    return fchmod(opened, 0666) == 0 && fcntl(opened, F_SETLK, &whole) == 0;
  });
  REQUIRE(holder.succeeded());
  device_turns ours(scratch / "");
  CHECK_FALSE(ours.try_take(gpu));  // it is this user's
  if (chown(file.c_str(), geteuid() + 1, getegid()) != 0) {
    WARN("not tested here: only root may give a file to another user");
    return;
  }
  CHECK(ours.try_take(gpu));
  CHECK(ours.holder(gpu).empty());
}

TEST_CASE("a GPU is not sampled while another process has its turn, and that process is named") {
  scratch_folder const scratch;
  auto const folder = scratch / "";
  other_process holder([&] { return takes(folder); });
  fake_cupti cupti;
  device_turns turns(folder);
  std::atomic<bool> halted{false};
  std::uint32_t next_metric = 1;
  std::vector<metric_record> metrics;
  device_id const device{0};
  auto const begin = [&](pm_sampler& sampler) {
    return sampler.begin_window({&device, 1}, usual_interval_ns, next_metric, metrics,
                                [](std::string const&) { return name_id{7}; });
  };
  sampling_options const options{.words = {"sm__cycles_active.avg"},
                                 .turns = &turns,
                                 .uuid = [](device_id) { return std::string(gpu); }};
  {
    pm_sampler refused(cupti.library.api, options, halted);
    CHECK_FALSE(begin(refused));
    auto const lines = refused.take_warnings();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("gpuprof in process " + std::to_string(holder.id())) != std::string::npos);
    CHECK(refused.counts().busy == 1);
    CHECK(cupti.count("cuptiPmSamplingEnable") == 0);
  }
  holder.kill();
  pm_sampler sampler(cupti.library.api, options, halted);
  CHECK(begin(sampler));
  CHECK_FALSE(other_process([&] { return takes(folder); }).succeeded());
  sampling_results results;
  sampler.end_window(results);
  sampler.release();
  CHECK(other_process([&] { return takes(folder); }).succeeded());
  CHECK(begin(sampler));
  CHECK_FALSE(other_process([&] { return takes(folder); }).succeeded());
}

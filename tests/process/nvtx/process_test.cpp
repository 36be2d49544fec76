// SPDX-License-Identifier: Apache-2.0
// Real programs making real NVTX calls, with the layer injected as NVTX's tool.
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using lines = std::vector<std::string>;

struct outcome {
  int exit_code = -1;
  lines seen;
};

outcome run_scene(std::string const& scene, std::map<std::string, std::string> environment = {}) {
  auto const file = std::filesystem::temp_directory_path() /
                    ("nvtx_dump_" + std::to_string(getpid()) + "_" + scene);
  std::filesystem::remove(file);
  environment.emplace("NVTX_INJECTION64_PATH", NVTX_DUMP);
  environment.emplace("NVTX_DUMP_FILE", file);
  environment.emplace("NVTX_PLUGIN_PATH", NVTX_PLUGIN);
  environment.emplace("TSAN_OPTIONS", "suppressions=" NVTX_SUPPRESSIONS);
  std::string command = "env";
  for (auto const& [name, value] : environment) command += " " + name + "='" + value + "'";
  auto const status = std::system((command + " '" NVTX_CALLS "' " + scene).c_str());
  outcome result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, {}};
  std::ifstream dump(file);
  for (std::string line; std::getline(dump, line);) result.seen.push_back(line);
  std::filesystem::remove(file);
  return result;
}

void check_lines(std::string const& scene, lines const& expected,
                 std::map<std::string, std::string> const& environment = {}) {
  auto const result = run_scene(scene, environment);
  CHECK(result.exit_code == 0);
  CHECK(result.seen == expected);
}

}  // namespace

TEST_CASE("all calls of the core arrive: push, pop, marks, start, end, names; wide and narrow") {
  auto result = run_scene("core");
  CHECK(result.exit_code == 0);
  REQUIRE(result.seen.size() > 2);
  auto const thread = std::find_if(result.seen.begin(), result.seen.end(),
                                   [](auto const& line) { return line.starts_with("thread "); });
  REQUIRE(thread != result.seen.end());
  CHECK(thread->ends_with(" main thread"));
  result.seen.erase(thread);
  CHECK(result.seen == lines{"push outer level=0", "push inner \u00fc \U0001F600 level=1",
                             "mark here", "mark w\u00edde", "end inner \u00fc \U0001F600",
                             "end outer", "push full category=3 color=ff112233 i64=-5 level=0",
                             "end full", "mark full category=3 color=ff112233 i64=-5",
                             "start started level=0", "start started wide level=0",
                             "start full category=3 color=ff112233 i64=-5 level=0", "end started",
                             "end full", "end started wide", "category 3 io domain=",
                             "category 4 d\u00efsk domain=", "injections 1 unmatched 0 dropped 0"});
}

TEST_CASE("every plain payload type arrives, an unknown one is none") {
  check_lines("payload_kinds", {"mark p u64=18446744073709551615", "mark p i64=-1",
                                "mark p f64=2.500000", "mark p u64=7", "mark p f64=0.500000",
                                "mark p", "injections 1 unmatched 0 dropped 0"});
}

TEST_CASE(
    "domains nest independently, registered strings have names, destroyed domains still end") {
  check_lines("domains",
              {"push registered domain=blas level=0", "push default domain level=1",
               "push r\u00ebg domain=blas level=2", "mark r\u00ebg domain=bl\u00e4s",
               "end r\u00ebg", "end default domain", "start r\u00ebg domain=bl\u00e4s level=0",
               "end r\u00ebg", "end registered", "category 9 nine domain=blas",
               "thread 4711 by resource", "injections 1 unmatched 0 dropped 0"});
}

TEST_CASE("null and wild handles, short structs and pops of nothing do no harm") {
  check_lines("bad", {"push wild domain level=0", "end wild domain", "push  level=0", "end ",
                      "push  level=0", "end ", "push  level=0", "end ", "mark ", "mark ", "mark ",
                      "mark ", "mark  category=6", "mark null payload", "mark null payload",
                      "injections 1 unmatched 2 dropped 0"});
}

TEST_CASE("eight threads at once lose nothing") {
  auto const result = run_scene("many_threads");
  CHECK(result.exit_code == 0);
  CHECK(result.seen.size() == 8 * 1000 * 4 + 1);
  CHECK(std::count(result.seen.begin(), result.seen.end(), "push inner level=1") == 8000);
  CHECK(std::count(result.seen.begin(), result.seen.end(), "end thread 3") == 1000);
  CHECK(result.seen.back() == "injections 1 unmatched 0 dropped 0");
}

TEST_CASE("each shared object attaches by itself, and into the same trace") {
  check_lines("plugin", {"push in program level=0", "push in plugin level=1", "end in plugin",
                         "push in plugin level=1", "end in plugin", "end in program",
                         "injections 3 unmatched 0 dropped 0"});
}

TEST_CASE("extended payloads become JSON, and name events that have no name") {
  std::string const json = R"( json={"bytes":1024,"mode":"max","rank":-1,"peer":"node \"7\""})";
  check_lines("extended",
              {"push send domain=ext" + json + " level=0", "end send",
               "push node \"7\" domain=ext" + json + " level=0", "end node \"7\"",
               "mark node \"7\" domain=ext" + json, "push send domain=ext level=0",
               R"(mark send domain=ext json={"bytes":1024,"mode":"max","rank":-1})", "end send",
               "start node \"7\" domain=ext" + json + " level=0", "end node \"7\"",
               R"(mark  domain=ext json={"bytes":1024,"mode":"max","rank":-1,"peer":null})",
               "injections 1 unmatched 1 dropped 0"});
}

TEST_CASE("a forked child is not traced, its parent is") {
  check_lines("forked", {"push before fork level=0", "end before fork",
                         "injections 1 unmatched 0 dropped 0"});
}

TEST_CASE("ranges in destructors of threads and of the program are safe") {
  auto const result = run_scene("destructors");
  CHECK(result.exit_code == 0);
  CHECK(std::count(result.seen.begin(), result.seen.end(), "push never popped level=0") == 1);
  // No pop can come once its thread is gone: that is its end.
  CHECK(std::count(result.seen.begin(), result.seen.end(), "end never popped") == 1);
  CHECK(std::count(result.seen.begin(), result.seen.end(), "push after main level=1") == 1);
}

TEST_CASE("a recording that starts late knows the ranges it starts in") {
  check_lines("later",
              {"push epoch level=0", "push step level=1", "end step", "start async level=0",
               "end async", "end epoch", "injections 1 unmatched 0 dropped 0"},
              {{"NVTX_DUMP_LATER", "1"}});
}

TEST_CASE("the C++ markers are NVTX ranges with declared work") {
  auto result = run_scene("markers");
  CHECK(result.exit_code == 0);
  std::sort(result.seen.begin(), result.seen.end());  // two threads wrote
  CHECK(result.seen ==
        lines{"end ",  // of "first", which another thread's ring shows before its begin
              "end called", "end gemm", "end markers", "end second", "end step",
              "injections 1 unmatched 0 dropped 0", "mark marked color=ff010203",
              "push called level=1",
              "push gemm color=ff59a14f flops=2000000000 bytes=3000000 level=1",
              "push markers level=0", "push step domain=trainer flops=1 bytes=0 level=2",
              "start first flops=5 bytes=6 level=0", "start second domain=trainer level=0"});
}

TEST_CASE("without a tool the same calls do nothing and work") {
  auto const result = run_scene("core", {{"NVTX_INJECTION64_PATH", "/nonexistent"}});
  CHECK(result.exit_code == 3);  // levels are not tracked
  CHECK(result.seen.empty());
  CHECK(run_scene("many_threads", {{"NVTX_INJECTION64_PATH", "/nonexistent"}}).exit_code == 0);
}

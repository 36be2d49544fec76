// SPDX-License-Identifier: Apache-2.0
// gpuprof-play SESSION: is the program that was recorded, on a machine with no GPU.
//
// It loads the fake driver as a CUDA program loads the real one, calls cuInit, and then makes the
// recorded calls. A profiler that is preloaded or injected finds a CUDA process to profile.
#include "replay/format/machine.hpp"
#include "replay/format/record_fields.hpp"
#include "replay/format/recording_file.hpp"
#include "replay/player/endings.hpp"
#include "replay/player/files_left.hpp"
#include "replay/player/performance.hpp"
#include "replay/player/playable.hpp"

#include <nvtx3/nvToolsExt.h>

#include <climits>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace gpuprof::replay;

constexpr char const* usage =
    "usage: gpuprof-play SESSION [--speed X] [--repeat N] [--exit-with HOW] [--exit-at SHARE]\n"
    "  --speed X       divides the waits between calls by X; work on the GPU keeps its length\n"
    "  --repeat N      plays the session N times\n"
    "  --exit-with HOW one of normal, _exit, kill, throw, abort, fork, exec, in-flight, "
    "device-reset\n"
    "  --exit-at SHARE when that happens, from 0 (at once) to 1 (at the end, the default)\n"
    "  --prefork N     makes N children, which play; the parent uses NVTX and waits for them\n"
    "  --info          plays nothing; prints what the session holds\n";

struct arguments {
  char const* session = nullptr;
  play_options play;
  ending how = ending::normal;
  int children = 0;
  bool only_info = false;
};

[[noreturn]] void refuse(char const* what, char const* value) {
  std::fprintf(stderr, "gpuprof-play: %s %s\n%s", what, value, usage);
  std::exit(2);
}

double number(char const* text, double least, double most) {
  char* end = nullptr;
  double const value = std::strtod(text, &end);
  if (end == text || *end != '\0' || value < least || value > most) refuse("cannot use", text);
  return value;
}

arguments read(int count, char** given) {
  arguments a;
  for (int i = 1; i < count; ++i) {
    std::string_view const option = given[i];
    if (option.substr(0, 2) != "--") {
      if (a.session != nullptr) refuse("more than one session:", given[i]);
      a.session = given[i];
      continue;
    }
    if (option == "--info") {
      a.only_info = true;
      continue;
    }
    if (option == "--help") {
      std::fputs(usage, stdout);
      std::exit(0);
    }
    if (i + 1 == count) refuse("no value for", given[i]);
    char const* const value = given[++i];
    if (option == "--speed") {
      a.play.speed = number(value, 1e-3, 1e9);
    } else if (option == "--repeat") {
      a.play.repeat = static_cast<unsigned>(number(value, 1, 1e6));
    } else if (option == "--prefork") {
      a.children = static_cast<int>(number(value, 0, 100));
    } else if (option == "--exit-at") {
      a.play.interrupt_at = number(value, 0, 1);
    } else if (option == "--exit-with") {
      auto const how = ending_named(value);
      if (!how) refuse("unknown way to end:", value);
      a.how = *how;
    } else {
      refuse("unknown option", given[i - 1]);
    }
  }
  if (a.session == nullptr) refuse("which session?", "");
  return a;
}

void print_info(recording const& r) {
  for (auto const& [key, value] : r.facts) std::printf("%s=%s\n", key.c_str(), value.c_str());
  std::map<std::uint32_t, std::size_t> events, records;
  for (auto const& e : r.events) ++events[static_cast<std::uint32_t>(e.kind)];
  std::size_t at = 0;
  for (auto const size : r.records.sizes) {
    ++records[kind_of_record(r.records.bytes.data() + at)];
    at += size;
  }
  std::printf(
      "threads=%zu\nstrings=%zu\ndriver_callbacks=%zu\nresource_callbacks=%zu\nnvtx_calls=%zu\n",
      r.threads.size(), r.strings.size(), events[0], events[1], events[2]);
  for (auto const& [kind, count] : records) std::printf("records.kind_%u=%zu\n", kind, count);
}

/// In a child this returns; in the parent it ends with what came of the children.
void become_child(int children) {
  nvtxRangePushA("before the children");
  std::vector<pid_t> made;
  for (int i = 0; i < children; ++i) {
    made.push_back(fork());
    if (made.back() == 0) return;
  }
  nvtxRangePop();
  int failed = 0;
  for (auto const child : made) {
    int status = 0;
    failed += waitpid(child, &status, 0) != child || status != 0;
  }
  std::exit(failed);
}

/// REPLAY_WAITED=FILE: for how many ms the threads of this process together were ready to run and
/// had no core, a line for each process.
void note_waits() {
  char const* const file = std::getenv("REPLAY_WAITED");
  if (file == nullptr) return;
  std::uint64_t waited_ns = 0;
  for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::uint64_t ran = 0, waited = 0;
    std::ifstream(thread.path() / "schedstat") >> ran >> waited;
    waited_ns += waited;
  }
  std::ofstream(file, std::ios::app) << waited_ns / 1'000'000 << '\n';
}

void print_counts(performance const& p, char const* session) {
  auto const& c = p.counts();
  std::printf("gpuprof-play: played %s: calls=%" PRIu64 " launches=%" PRIu64 " kernels=%" PRIu64
              " gpu_records=%" PRIu64 " ranges=%" PRIu64 " marks=%" PRIu64 "\n",
              session, c.calls.load(), c.launches.load(), c.kernels.load(), c.gpu_records.load(),
              p.nvtx().ranges(), p.nvtx().marks());
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** given) {
  auto const a = read(count, given);
  auto r = read_recording(a.session);
  if (!r) {
    std::fprintf(stderr, "gpuprof-play: %s\n", r.message().c_str());
    return 2;
  }
  if (a.only_info) {
    print_info(*r);
    return 0;
  }
  if (!all_kinds_known(*r)) {
    std::fprintf(stderr, "gpuprof-play: %s holds activity records of a kind it cannot play\n",
                 a.session);
    return 2;
  }
  char absolute[PATH_MAX];
  setenv(session_variable, realpath(a.session, absolute) != nullptr ? absolute : a.session, 1);

  if (a.children > 0) become_child(a.children);
  auto const driver = start_driver();
  auto const files = files_left::count_if_wanted();
  auto options = a.play;
  performance* playing = nullptr;
  if (a.how != ending::normal) options.interrupt = [&] { carry_out(a.how, *playing, given); };
  performance p(*r, driver, std::move(options));
  playing = &p;
  p.run();
  if (a.how != ending::in_flight) driver.synchronize();
  print_counts(p, a.session);
  if (files != nullptr) files->print();
  note_waits();
  return 0;
}

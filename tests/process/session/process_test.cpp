// SPDX-License-Identifier: Apache-2.0
// The whole library in processes without CUDA: through LD_PRELOAD, through dlopen, and however they
// end.
#include "capture/reader.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace gpuprof;
namespace fs = std::filesystem;

namespace {

/// A folder of its own for each run, removed with it.
struct outcome {
  fs::path folder;
  int status = 0;
  std::string out, err;

  outcome() = default;
  outcome(outcome&& other) noexcept
      : folder(std::exchange(other.folder, {})),
        status(other.status),
        out(std::move(other.out)),
        err(std::move(other.err)) {}
  ~outcome() {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
  }

  int exit_code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
  std::vector<std::string> captures() const {
    std::vector<std::string> names;
    for (auto const& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".gpuprof") names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

std::string text_of(fs::path const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// `before`: shell words that come first, such as NAME=value or a command that ends in ";".
outcome run_shell(std::string const& words, std::string const& before = "") {
  static std::atomic<int> number{0};
  outcome result;
  result.folder = fs::temp_directory_path() /
                  ("core_process_" + std::to_string(getpid()) + "_" + std::to_string(number++));
  fs::create_directory(result.folder);
  // Of the tests' own environment nothing, but that a loaded machine has time to write.
  auto const command =
      "cd '" + result.folder.string() +
      "' && unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH; "
      "for name in $(env | sed -n 's/^\\(GPUPROF_[A-Z_]*\\)=.*/\\1/p'); do unset $name; done; "
      "export GPUPROF_FLUSH_TIMEOUT_MS=60000; " +
      before + " exec " + words + " >out 2>err";
  auto const child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  waitpid(child, &result.status, 0);
  result.out = text_of(result.folder / "out");
  result.err = text_of(result.folder / "err");
  return result;
}

/// The program with the library preloaded into it alone. Under AddressSanitizer that puts the
/// library before the sanitizer's, which is told not to mind.
outcome run(std::string const& scene, std::string const& variables = "",
            std::string const& before = "") {
  return run_shell("env ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS LD_PRELOAD='" PRELOAD
                   "' " +
                       variables + " '" PROGRAM "' " + scene,
                   before);
}

struct contents {
  std::map<std::string, int> begun;
  std::map<std::uint32_t, std::string> categories;
  std::map<std::uint32_t, std::string> threads;  // the last name of each
  int ended = 0, windows = 0;
  bool complete = false;
};

contents read(fs::path const& file) {
  contents all;
  auto in = capture::reader::open(file);
  REQUIRE(in);
  std::map<std::uint32_t, bool> windows;
  in->for_each<range_begin>([&](std::span<range_begin const> rows) {
    for (auto const& r : rows) {
      auto const domain = std::string(in->text(r.domain));
      ++all.begun[(domain.empty() ? "" : domain + ":") + std::string(in->text(r.name))];
    }
  });
  in->for_each<range_end>([&](auto rows) { all.ended += static_cast<int>(rows.size()); });
  in->for_each<window_record>([&](std::span<window_record const> rows) {
    for (auto const& w : rows) windows[w.index] = true;
  });
  in->for_each<category_record>([&](std::span<category_record const> rows) {
    for (auto const& c : rows) all.categories[c.category] = in->text(c.name);
  });
  in->for_each<thread_record>([&](std::span<thread_record const> rows) {
    for (auto const& t : rows) all.threads[raw(t.thread)] = in->text(t.name);
  });
  all.windows = static_cast<int>(windows.size());
  all.complete = in->is_complete();
  return all;
}

contents read_only_capture(outcome const& result) {
  auto const files = result.captures();
  REQUIRE(files.size() == 1);
  return read(result.folder / files[0]);
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a program that uses neither CUDA nor NVTX is left untouched") {
  auto const result = run("nothing");
  CHECK(result.exit_code() == 0);
  CHECK(result.out.empty());
  CHECK(result.err.empty());
  CHECK(result.captures().empty());
}

TEST_CASE("the C API works before CUDA, in any order, and each call returns its status") {
  auto const result = run_shell("'" PROGRAM "' api '" LIBRARY "'");
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  CHECK(result.out ==
        "capturing=0\nstop=1\nflush=1\ntotals=1\npath=0\nstart wrong=2\ntotals wrong=2\n"
        "start=0\nstart again=0\ncapturing=1\nflush=0\nstop=0\nstop again=1\ncapturing=0\n"
        "start=0\nstep=0\nstop=0\ntotals=0\nstep=3\nlate=2\npath fits=1\npath is cut=1\n");
  REQUIRE(result.captures() == std::vector<std::string>{"chosen.gpuprof"});
  auto const all = read_only_capture(result);
  CHECK(all.windows == 2);
  CHECK(all.begun == std::map<std::string, int>{{"gpuprof:step", 1}, {"late", 2}, {"step", 3}});
}

TEST_CASE("each call that has no effect says why") {
  auto const result = run_shell("'" PROGRAM "' messages '" LIBRARY "'");
  std::string const nothing = "nothing has been captured in this process",
                    no_counters =
                        "gpuprof_take_metrics() has nothing to give: no counters are read. "
                        "GPUPROF_METRICS=auto reads them",
                    none_runs = "no capture is running: gpuprof_start() begins one";
  CHECK(result.out ==
        "at first=0|\nstop=1|" + none_runs + "\nflush=1|" + nothing + "\ntotals=1|" + nothing +
            "\nmetrics=1|" + nothing +
            "\nwrong size=2|struct_size fits no version of gpuprof_options: set it to "
            "sizeof(gpuprof_options)\nno totals=2|totals is NULL\nno metrics=2|metrics is NULL\n"
            "of a thread that called nothing=0|\nstart=0|\nflush=0|\nmetrics=1|" +
            no_counters + "\ntotals=0|\nstop=0|\nstart again=0|\nstop again=1|" + none_runs + "\n");
  CHECK(contains(result.err, "[gpuprof] " + no_counters + "\n"));
}

TEST_CASE("a program that starts a capture while it ends gets an error") {
  auto const result = run_shell("'" PROGRAM "' 'start at exit' '" LIBRARY "'");
  std::string const why = "the process is ending: nothing more is captured";
  CHECK(result.out == "start=1|" + why + "\nflush=1|" + why +
                          "\npeaks=1|no peaks are measured: the process is ending\n");
}

TEST_CASE("if no thread can be started, each start returns the reason") {
  auto const result = run_shell("'" PROGRAM "' 'no threads' '" LIBRARY "'");
  auto const why = "nothing is captured: no thread could be started (error " +
                   std::to_string(EAGAIN) + "). The program is not affected.";
  CHECK(result.out == "start=1|" + why + "\nstart again=1|" + why + "\n");
  CHECK(contains(result.err, "[gpuprof] " + why + "\n"));
}

TEST_CASE("the reason for a missing or ended file is the same in the log and in the last message") {
  auto const line_of = [](std::string const& text, std::string const& call) {
    auto const at = text.find(call + "=1|");
    REQUIRE(at != std::string::npos);
    auto const begin = at + call.size() + 3;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  auto const nowhere =
      run_shell("'" PROGRAM "' messages '" LIBRARY "'", "export GPUPROF_OUTPUT=none/there;");
  auto const why = line_of(nowhere.out.substr(nowhere.out.find("start=0")), "flush");
  CHECK(contains(why, "none"));
  CHECK(contains(nowhere.err, "[gpuprof] " + why + "\n"));
  CHECK(line_of(nowhere.out, "stop again") == why);
  auto const full =
      run_shell("'" PROGRAM "' messages '" LIBRARY "'", "export GPUPROF_MIN_FREE_SPACE=9000T;");
  auto const limit = line_of(full.out, "start again");
  CHECK(contains(limit, "the capture ends here: "));
  CHECK(contains(full.err, "[gpuprof] " + limit + "\n"));
}

TEST_CASE("values of enums have names, and unknown ones are empty") {
  auto const result = run_shell("'" PROGRAM "' 'enum names' '" LIBRARY "'");
  CHECK(result.out ==
        "status: [ok] [inactive] [invalid argument] [timeout] [] []\n"
        "copy: [] [host to device] [device to device] [peer to peer] [] []\n"
        "precision: [fp64] [tensor_bf16] [tensor_int8] [] []\n"
        "flops: [not measured] [counted] [tensor counted] [sampled] [tensor cycles] [machine code] "
        "[declared] [] []\n"
        "bound: [] [latency] [DRAM] [L2] [] [] [FP64] [tensor BF16] [tensor INT8] [] []\n"
        "test: [] [fp64] [tensor_bf16] [synchronize] [] []\n"
        "unit: [] [FLOP/s] [op/s] [B/s] [s] [] []\n"
        "clock: [] [SM clock per SM] [memory clock] [] []\n"
        "limiter: [] [idle] [power cap] [display clocks] []\n");
}

TEST_CASE(
    "metrics are available if counters were requested, even without kernels; otherwise one line "
    "says so") {
  auto const asked = run_shell("env GPUPROF_METRICS=auto '" PROGRAM "' metrics '" LIBRARY "'");
  CHECK(asked.out ==
        "metrics wrong=2\nmetrics=1\nnone=1\nstart=0\nflush=0\nmetrics=0\nmetrics=0\nranges=0\n"
        "launches=0\nnot known=1\nchild=1\n");
  CHECK(asked.err.find("gpuprof_take_metrics") == std::string::npos);
  auto const unasked = run_shell("'" PROGRAM "' metrics '" LIBRARY "'");
  CHECK(unasked.out ==
        "metrics wrong=2\nmetrics=1\nnone=1\nstart=0\nflush=0\nmetrics=1\nmetrics=1\nchild=1\n");
  auto const said = unasked.err.find("GPUPROF_METRICS=auto");
  CHECK(said != std::string::npos);
  CHECK(unasked.err.find("GPUPROF_METRICS=auto", said + 1) == std::string::npos);
}

TEST_CASE("range names beyond the limit are grouped, and the end of the run reports how many") {
  auto const result = run("requests");
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  auto const all = read_only_capture(result);
  CHECK(all.ended == 20'020);
  CHECK(all.begun.at("step") == 10);
  CHECK(all.begun.at("new recently") == 10);
  auto const grouped = std::find_if(all.begun.begin(), all.begun.end(), [](auto const& name) {
    return name.first.starts_with("request *");
  });
  REQUIRE(grouped != all.begun.end());
  CHECK(grouped->second > 1000);
  CHECK(all.begun.size() == 20'003u - static_cast<unsigned>(grouped->second));
  auto const number = std::to_string(grouped->second).insert(1, ",");
  CHECK(contains(result.err, ", names of " + number + " ranges grouped; next: "));
}

TEST_CASE("a program that uses only NVTX gets its ranges") {
  auto const result = run("ranges 1000");
  CHECK(result.exit_code() == 0);
  CHECK(result.out.empty());
  auto const all = read_only_capture(result);
  CHECK(all.begun.at("step") == 1000);
  CHECK(all.ended == 1000);
  CHECK(all.complete);
  CHECK(contains(result.err, "[gpuprof] 0 kernels, 1,000 ranges ("));
  CHECK(contains(result.err, "; next: gpuprof stats "));
}

TEST_CASE("threads and categories have the names the program gave them through NVTX") {
  auto const all = read_only_capture(run("names"));
  CHECK(all.categories == std::map<std::uint32_t, std::string>{{7, "loading"}});
  REQUIRE(all.threads.size() == 1);
  CHECK(all.threads.begin()->second == "the reader");
}

TEST_CASE("a range that never ends is stored as open") {
  auto const all = read_only_capture(run("'never ends'"));
  CHECK(all.begun.at("open") == 1);
  CHECK(all.ended == 0);
  CHECK(all.complete);
}

TEST_CASE("captures have the requested names and are not replaced unless asked") {
  auto const named = run("ranges 1", "GPUPROF_OUTPUT=of_%q{WHO} WHO=me");
  CHECK(named.captures() == std::vector<std::string>{"of_me.gpuprof"});
  auto const kept = run("ranges 1", "GPUPROF_OUTPUT=mine", "echo precious > mine.gpuprof;");
  CHECK(kept.exit_code() == 0);
  CHECK(text_of(kept.folder / "mine.gpuprof") == "precious\n");
  CHECK(contains(kept.err, "mine.gpuprof"));
  auto const replaced = run("ranges 1", "GPUPROF_OUTPUT=mine GPUPROF_FORCE_OVERWRITE=1",
                            "echo precious > mine.gpuprof;");
  CHECK(read_only_capture(replaced).begun.at("step") == 1);
}

TEST_CASE("a missing folder is reported in one line, and the program goes on") {
  auto const result = run("ranges 5", "GPUPROF_OUTPUT=/nowhere/at/all");
  CHECK(result.exit_code() == 0);
  CHECK(contains(result.err, "[gpuprof] nothing is captured: "));
  CHECK(contains(result.err, "/nowhere/at/all"));
  INFO(result.err);
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

TEST_CASE("a full disk is reported in one line, and the program goes on") {
  // A disk of 8 KiB in a mount namespace of the program's own, where the system allows one.
  auto const result = run_shell(
      "unshare --user --map-root-user --mount sh -c '"
      "mkdir disk && mount -t tmpfs -o size=8k none disk || exit 77; "
      "LD_PRELOAD=$LIBRARY GPUPROF_OUTPUT=disk/full $PROGRAM threads; "
      "code=$?; cp disk/full.gpuprof .; exit $code'",
      "export LIBRARY='" LIBRARY "' PROGRAM='" PROGRAM
      "' ASAN_OPTIONS=verify_asan_link_order=0:$ASAN_OPTIONS; "
      "unshare --user --map-root-user --mount true 2>err || exit 77; ");
  if (result.exit_code() == 77) {
    WARN("skipped: this system lets nobody make a small disk of his own (" << result.err << ")");
    return;
  }
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  CHECK(result.out.empty());
  CHECK(contains(result.err, "[gpuprof] the capture is incomplete"));
  CHECK(contains(result.err, "No space left on device"));
  auto const all = read_only_capture(result);
  CHECK(all.ended < 16000);
}

TEST_CASE("a program that closes all descriptors keeps its own files intact and gets one line") {
  auto const result = run("'closes all'", "TSAN_OPTIONS=suppressions=" CLOSED_DESCRIPTORS);
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  for (int i = 0; i < 16; ++i)
    CHECK((text_of(result.folder / ("mine" + std::to_string(i))) == "mine"));
  CHECK(contains(result.err, "[gpuprof] the capture is incomplete"));
  CHECK(contains(result.err, "the program closed its descriptor"));
  auto const all = read_only_capture(result);
  CHECK(all.begun.at("step") == 10);
  CHECK_FALSE(all.complete);
}

TEST_CASE("no line goes into a file that reuses the number of a closed stderr") {
  auto const result = run("'closes streams'", "GPUPROF_STATS=1");
  CHECK(result.exit_code() == 0);
  CHECK((text_of(result.folder / "data") == "data"));
  CHECK(result.err.empty());
  CHECK(read_only_capture(result).begun.at("step") == 20);
}

TEST_CASE(
    "a program that traps floating-point exceptions runs on, and the library sets none of its "
    "flags") {
  auto const result = run("traps", "GPUPROF_METRICS=auto GPUPROF_STATS=1");
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  CHECK(result.out == "flags=0\n");
  CHECK(read_only_capture(result).ended == 1000);
}

TEST_CASE("a limit on file sizes is reported in one line, and the program goes on") {
  auto const result = run("threads", "", "trap '' XFSZ; ulimit -f 8;");
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  CHECK(contains(result.err, "[gpuprof] the capture is incomplete"));
  REQUIRE(result.captures().size() == 1);
  CHECK(capture::reader::open((result.folder / result.captures()[0]).string()));
}

// The thread sanitizer writes a file of its own at start, which the limit forbids.
#ifndef __SANITIZE_THREAD__
TEST_CASE("a log line beyond the file size limit does not end the program") {
  // Written on the program's own thread, before main(), with SIGXFSZ as it is by default.
  auto const result = run("ranges 1", "GPUPROF_OUTPT=x", "ulimit -f 0;");
  CHECK(result.exit_code() == 0);
  CHECK(result.err.empty());
  CHECK(result.captures().empty());  // and no empty files are left
}
#endif

TEST_CASE("an unknown GPUPROF_ variable is reported with the nearest known name") {
  auto const result = run("ranges 1", "GPUPROF_OUTPT=x GPUPROF_FLUSH_INTERVAL_MS=soon");
  CHECK(result.exit_code() == 0);
  CHECK(contains(result.err, "GPUPROF_OUTPT"));
  CHECK(contains(result.err, "GPUPROF_OUTPUT"));
  CHECK(contains(result.err, "GPUPROF_FLUSH_INTERVAL_MS"));
  CHECK(read_only_capture(result).begun.at("step") == 1);
}

TEST_CASE("an NVTX injection of another tool is kept") {
  auto const result = run("ranges 3", "NVTX_INJECTION64_PATH=/nowhere/tool.so");
  CHECK(result.exit_code() == 0);
  CHECK(result.captures().empty());
}

// In the child the drain thread's stack is no root any more, so what it owns would count as leaked.
// The thread sanitizer knows nothing of threads that a child starts, and ends it unless it is told
// to go on.
constexpr auto forks =
    "ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 TSAN_OPTIONS=die_after_fork=0 ";

/// What several processes have captured, the one with the fewest ranges first.
std::vector<contents> read_captures(outcome const& result) {
  std::vector<contents> all;
  for (auto const& file : result.captures()) all.push_back(read(result.folder / file));
  std::sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.ended < b.ended; });
  return all;
}

// A sanitizer's own locks are not kept free at a fork: children of threads that allocate hang in
// it.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE(
    "a child that is forked before CUDA begins has a capture of its own, with its own ranges") {
  auto const result = run("fork", forks);
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  auto const all = read_captures(result);
  REQUIRE(all.size() == 2);
  CHECK(all[0].begun == std::map<std::string, int>{{"open at the fork", 1}, {"step", 8}});
  CHECK(all[1].begun == std::map<std::string, int>{{"child", 100}, {"thread of the child", 5}});
  for (auto const& one : all) CHECK(one.complete);
  CHECK(all[0].threads.size() == 1);
  CHECK(all[1].threads.size() == 2);
}

TEST_CASE("the C API works in the child of a child") {
  auto const result = run("'fork and start'", forks);
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  auto const all = read_captures(result);
  REQUIRE(all.size() == 2);  // the child between them did nothing
  CHECK(all[0].begun == std::map<std::string, int>{{"step", 1}});
  CHECK(all[1].begun == std::map<std::string, int>{{"step", 7}});
}

TEST_CASE("forked children never wait for locks that busy threads held") {
  auto const result = run("'forks beside threads'", forks);
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  CHECK(result.captures().size() == 41);
}

#endif

// A sanitizer does not start in a shell that has none.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a program without LD_PRELOAD is not profiled unless the command started it") {
  auto const left_over =
      run_shell("env LD_PRELOAD='" PRELOAD "' sh -c \"env -u LD_PRELOAD '" PROGRAM "' ranges 3\"",
                "export ASAN_OPTIONS=verify_asan_link_order=0;");
  CHECK(left_over.exit_code() == 0);
  CHECK(left_over.err.empty());
  CHECK(left_over.captures().empty());
  // The variables that somebody has set stay in force, as those of `gpuprof profile` do.
  auto const set =
      run_shell("env CUDA_INJECTION64_PATH='" LIBRARY "' NVTX_INJECTION64_PATH='" LIBRARY
                "' LD_PRELOAD='" PRELOAD "' sh -c \"env -u LD_PRELOAD '" PROGRAM "' ranges 3\"",
                "export ASAN_OPTIONS=verify_asan_link_order=0;");
  CHECK(set.exit_code() == 0);
  CHECK(read_only_capture(set).begun.at("step") == 3);
}
#endif

TEST_CASE("a program that calls exec gets one capture before it and one after it") {
  auto const result = run("exec");
  CHECK(result.exit_code() == 0);
  auto const files = result.captures();
  REQUIRE(!files.empty());
  // The second life always finishes its own; the first may have been replaced before it was opened.
  auto const second = read(result.folder / files.back());
  CHECK(second.begun.at("step") == 20);
  CHECK(second.complete);
}

TEST_CASE("a program that leaves by _exit keeps what was flushed") {
  auto const result = run("_exit");
  CHECK(result.exit_code() == 3);
  auto const all = read_only_capture(result);
  CHECK(all.begun.at("step") >= 10);
  CHECK_FALSE(all.complete);
}

TEST_CASE("a program that is killed keeps what was flushed") {
  auto const result = run("kill");
  CHECK((WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGKILL));
  auto const all = read_only_capture(result);
  CHECK(all.begun.at("step") >= 10);
  CHECK_FALSE(all.complete);
}

TEST_CASE("exit() on another thread ends the capture properly") {
  auto const result = run("'exit in thread'");
  CHECK(result.exit_code() == 5);
  auto const all = read_only_capture(result);
  CHECK(all.begun.at("step") == 6);
  CHECK(all.complete);
}

TEST_CASE("a canceled thread ends in code of the program, not inside the library") {
  auto const result = run("canceled", "GPUPROF_LOG_LEVEL=debug");
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  CHECK(read_only_capture(result).begun.at("step") == 3);
}

TEST_CASE("ranges of many threads all arrive") {
  auto const result = run("threads");
  CHECK(result.exit_code() == 0);
  auto const all = read_only_capture(result);
  CHECK(all.begun.at("step") == 16000);
  CHECK(all.ended == 16000);
  CHECK(all.complete);
}

TEST_CASE("captures switched from many threads at once give a complete file") {
  auto const result = run("switching", "GPUPROF_OUTPUT=switched");
  INFO(result.err);
  CHECK(result.exit_code() == 0);
  auto const all = read_only_capture(result);
  CHECK(all.windows >= 1);
  CHECK(all.complete);
}

TEST_CASE(
    "steps are ranges of the threads that count them; a schedule records only captured ones") {
  auto const all = read_only_capture(run("steps"));
  CHECK(all.begun == std::map<std::string, int>{{"gpuprof:step", 22}, {"inside", 20}});
  CHECK(all.ended == 20 + 20 + 1);  // the main thread's last is open at the end
  auto const scheduled = read_only_capture(run("steps", "GPUPROF_SCHEDULE=4,0,3,1"));
  CHECK(scheduled.begun == std::map<std::string, int>{{"gpuprof:step", 3}, {"inside", 3}});
  CHECK(scheduled.ended == 6);
}

TEST_CASE("a named range starts captures: each has a window with the events inside") {
  auto const result = run("'two captures'",
                          "GPUPROF_CAPTURE_RANGE=nvtx GPUPROF_NVTX_CAPTURE=wanted "
                          "GPUPROF_CAPTURE_RANGE_END=repeat:2");
  INFO(result.err);
  auto const all = read_only_capture(result);
  CHECK(all.windows == 2);
  CHECK(all.begun == std::map<std::string, int>{{"inside", 4}, {"wanted", 2}});
  CHECK(all.complete);
}

TEST_CASE("stop-shutdown ends the program once the capture is on disk") {
  auto const result = run("'asked to end'",
                          "GPUPROF_CAPTURE_RANGE=nvtx GPUPROF_NVTX_CAPTURE=wanted "
                          "GPUPROF_CAPTURE_RANGE_END=stop-shutdown");
  CHECK((WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGTERM));
  auto const all = read_only_capture(result);
  CHECK(all.begun.at("wanted") == 1);
  CHECK(all.ended == 1);
}

TEST_CASE("the summary at exit goes to stderr, never to stdout") {
  auto const result = run("ranges 10", "GPUPROF_STATS=1");
  CHECK(result.exit_code() == 0);
  CHECK(result.out.empty());
  CHECK(contains(result.err, "step"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("a program with more rights than its user is not profiled") {
  if (geteuid() != 0) {
    WARN("only root can make such a program");
    return;
  }
  constexpr uid_t nobody = 65534;
  auto const folder = fs::temp_directory_path() / ("core_secure_" + std::to_string(getpid()));
  fs::create_directory(folder);
  auto const program = folder / "program", library = folder / "libgpuprof.so";
  fs::copy_file(PROGRAM, program);
  fs::copy_file(LIBRARY, library);
  auto const go = [&] {
    return run_shell("'" + program.string() + "' api '" + library.string() + "'",
                     "chmod 777 .; export GPUPROF_OUTPUT=named GPUPROF_LOG_LEVEL=debug;");
  };
  auto const usual = go();
  CHECK(contains(usual.out, "start=0\n"));
  CHECK(usual.captures().size() == 1);
  REQUIRE(chown(program.c_str(), nobody, nobody) == 0);
  REQUIRE(chmod(program.c_str(), 04755) == 0);
  auto const secure = go();
  CHECK(secure.out.rfind("capturing=0\n", 0) == 0);
  CHECK_FALSE(contains(secure.out, "start=0\n"));
  CHECK(
      contains(secure.out, "why=nothing is profiled: this program has rights that its user does"));
  CHECK(secure.captures().empty());
  CHECK(secure.err.empty());
  fs::remove_all(folder);
}
#endif

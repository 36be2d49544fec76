// SPDX-License-Identifier: Apache-2.0
// When captures are switched, and what that does to CUPTI: with CUPTI played by the test.
#include "guest/session/process_profiler.hpp"

#include "guest/nvtx/name_registry.hpp"
#include "unit/session/profiler_scene.hpp"

#include <atomic>
#include <filesystem>
#include <random>
#include <sys/resource.h>
#include <thread>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

/// How often the threads of the profiler have gone to sleep so far.
std::uint64_t sleeps_of_our_threads() {
  std::uint64_t sleeps = 0;
  for (auto const& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    auto ours = false;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:")) ours = line.find("gpuprof") != line.npos;
      if (ours && line.starts_with("voluntary_ctxt_switches:"))
        sleeps += std::stoull(line.substr(line.find(':') + 1));
    }
  }
  return sleeps;
}

/// While nothing happens they wake once in the first second and after two more, but not again and
/// again.
bool sleep_while_nothing_happens() {
  auto const before = sleeps_of_our_threads();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  return sleeps_of_our_threads() - before <= 4;
}

/// No file of this process grows from here on: as on a full disk.
void let_no_file_grow() {
  rlimit const none{0, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
}

void let_files_grow() {
  rlimit const all{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &all);
}

/// Names that hardly compress.
void make_ranges(profiler_scene& s, unsigned count) {
  std::mt19937_64 noise{1};
  for (unsigned i = 0; i < count; ++i) {
    std::string name;
    while (name.size() < 64) name += static_cast<char>(' ' + noise() % 90);
    names().intern(name);
    if (i % 256 == 0) s.profiler.flush();
  }
}

variables const between_profiler_calls{{"GPUPROF_CAPTURE_RANGE", "cudaProfilerApi"},
                                       {"GPUPROF_CAPTURE_RANGE_END", "repeat"}};

}  // namespace

TEST_CASE(
    "a capture begins with CUDA; at its end records are switched off, and the next call leaves "
    "CUPTI") {
  CHECK(in_a_process({}, [](profiler_scene& s) {
          EXPECT(!s.profiler.active());
          EXPECT(s.cupti.calls().empty());
          s.profiler.cuda_initialized();
          EXPECT(s.profiler.capturing());
          EXPECT(s.profiler.active());
          EXPECT(s.traces_kernels());

          EXPECT(s.profiler.stop());
          EXPECT(!s.profiler.capturing());
          EXPECT(s.profiler.has_captured());
          EXPECT(std::filesystem::exists(s.profiler.capture_path()));
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
          EXPECT(s.cupti.subscribed());
          EXPECT(s.soon([&] { return s.a_call_ends(), !s.cupti.subscribed(); }));
          EXPECT(s.cupti.count("cuptiFinalize") == 1);
        }) == "");
}

TEST_CASE("a capture after CUPTI was left attaches again") {
  CHECK(in_a_process({}, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.profiler.stop();
          EXPECT(s.soon([&] { return s.a_call_ends(), !s.cupti.subscribed(); }));
          EXPECT(s.profiler.start(""));
          EXPECT(s.cupti.subscribed());
          EXPECT(s.traces_kernels());
          s.a_call_ends();
          EXPECT(s.traces_kernels());
        }) == "");
}

TEST_CASE("without CUDA a capture has only ranges, and CUPTI is not touched") {
  CHECK(in_a_process({}, [](profiler_scene& s) {
          s.profiler.nvtx_used();
          EXPECT(s.profiler.capturing());
          EXPECT(s.profiler.flush());
          EXPECT(s.cupti.calls().empty());
        }) == "");
}

TEST_CASE("--trace=nvtx leaves CUPTI alone in a CUDA program too") {
  CHECK(in_a_process({{"GPUPROF_TRACE", "nvtx"}}, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          EXPECT(s.profiler.capturing());
          EXPECT(s.cupti.calls().empty());
        }) == "");
}

TEST_CASE(
    "cudaProfilerStart and Stop: CUPTI has callbacks before, traces inside, and stays attached") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          EXPECT(!s.profiler.capturing());
          EXPECT(s.cupti.subscribed());
          EXPECT(!s.traces_kernels());

          s.cuda.profiler_start();
          EXPECT(s.profiler.capturing());
          EXPECT(s.traces_kernels());
          s.cuda.profiler_stop();
          EXPECT(!s.profiler.capturing());
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
          s.a_call_ends();
          EXPECT(s.cupti.subscribed());  // another capture may begin by itself
          EXPECT(s.cupti.count("cuptiFinalize") == 0);

          s.cuda.profiler_start();
          EXPECT(s.profiler.capturing());
          EXPECT(s.traces_kernels());
        }) == "");
}

TEST_CASE("captures within half a second of each other find tracing still on") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.cuda.profiler_start();
          s.cuda.profiler_stop();
          for (int round = 0; round < 3; ++round) s.profiler.flush();  // so the drain is at rest
          s.cupti.forget_calls();
          s.cuda.profiler_start();
          EXPECT(s.profiler.capturing());
          for (auto const& call : s.cupti.calls())
            EXPECT(call.find("cuptiActivityEnable") == call.npos);
        }) == "");
}

TEST_CASE(
    "CUPTI held by another tool: reported once, ranges are recorded, and attaching is tried "
    "again") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          s.cupti.hold_as("Nsight Systems");
          s.profiler.cuda_initialized();
          s.cuda.profiler_start();
          EXPECT(s.profiler.capturing());
          EXPECT(!s.traces_kernels());
          s.cuda.profiler_stop();
          s.cuda.profiler_start();
          EXPECT(s.said("kernel tracing is off") == 1);
          EXPECT(s.said("Nsight Systems") == 1);
          s.cuda.profiler_stop();

          s.cupti.hold_as("");
          s.cuda.profiler_start();
          EXPECT(s.traces_kernels());
        }) == "");
}

TEST_CASE(
    "CUPTI that has shut itself down is never called again, and captures continue without it") {
  CHECK(in_a_process({}, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.cuda.cupti_failed(CUPTI_ERROR_UNKNOWN, "a reason");
          EXPECT(s.said("a reason") == 1);
          s.profiler.flush();  // a round that had begun is over
          s.cupti.forget_calls();
          EXPECT(s.profiler.stop());
          EXPECT(s.profiler.start(""));
          s.cuda.context_ending();
          s.profiler.shut_down();
          EXPECT(s.cupti.calls().empty());
        }) == "");
}

TEST_CASE("the records of a context are flushed on the thread that ends it, while a capture runs") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          auto const here = std::this_thread::get_id();
          std::atomic<bool> fetched{false};
          s.cupti.when_called("cuptiActivityFlushAll", [&] {
            if (std::this_thread::get_id() == here) fetched = true;
          });
          s.profiler.cuda_initialized();
          s.cuda.context_ending();
          EXPECT(!fetched);
          s.cuda.profiler_start();
          // Not while the drain thread does.
          EXPECT(s.soon([&] { return s.cuda.context_ending(), fetched.load(); }));
        }) == "");
}

TEST_CASE("a flush that exceeds its time limit reports that, and continues") {
  CHECK(in_a_process({{"GPUPROF_FLUSH_TIMEOUT_MS", "50"}}, [](profiler_scene& s) {
          std::atomic<bool> is_held{true};
          s.cupti.when_called("cuptiActivityFlushAll", [&] { is_held.wait(true); });
          s.profiler.cuda_initialized();
          for (auto const& outcome : {s.profiler.flush(), s.profiler.stop()}) {
            EXPECT(outcome.what == api_outcome::kind::late);
            EXPECT(outcome.why.starts_with("not all of the capture is in its file after 50 ms"));
          }
          is_held = false;
          is_held.notify_all();
          EXPECT(s.soon([&] { return static_cast<bool>(s.profiler.flush()); }));
        }) == "");
}

TEST_CASE("a start while another thread switches is left to that thread, and reports that") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          bool once = false;
          api_outcome beside;
          s.cupti.when_called("cuptiActivityEnable", [&] {
            if (std::exchange(once, true)) return;
            std::thread([&] { beside = s.profiler.start(""); }).join();
          });
          s.cuda.profiler_start();
          EXPECT(beside.what == api_outcome::kind::late);
          EXPECT(beside.why.starts_with("another thread is starting or ending a capture"));
          EXPECT(s.profiler.capturing());
        }) == "");
}

TEST_CASE("a capture range is the outermost of its name, given with its domain or as in reports") {
  variables const nvtx{{"GPUPROF_CAPTURE_RANGE", "nvtx"},
                       {"GPUPROF_CAPTURE_RANGE_END", "repeat"},
                       {"GPUPROF_NVTX_CAPTURE", "app:step"}};
  CHECK(in_a_process(nvtx, [](profiler_scene& s) {
          auto const step = names().intern("step"), app = names().intern("app");
          auto const other = names().intern("other");
          s.profiler.nvtx_used();
          s.ranges.on_push(step, other);
          s.ranges.on_push(other, app);
          EXPECT(!s.profiler.capturing());
          s.ranges.on_push(step, app);
          EXPECT(s.profiler.capturing());
          s.ranges.on_start(step, app);
          s.ranges.on_end(step, app);
          EXPECT(s.profiler.capturing());
          s.ranges.on_pop(step, app);
          EXPECT(!s.profiler.capturing());
          s.ranges.on_push(names().intern("app:step"), {});
          EXPECT(s.profiler.capturing());
        }) == "");
}

TEST_CASE(
    "a schedule traces its warm-up steps and captures its active ones, with calls or ranges") {
  variables const schedule{{"GPUPROF_SCHEDULE", "1,1,1,1"}, {"GPUPROF_STEP_RANGE", "batch"}};
  CHECK(in_a_process(schedule, [](profiler_scene& s) {
          auto const batch = names().intern("batch");
          s.profiler.cuda_initialized();
          EXPECT(!s.traces_kernels());
          s.profiler.step();
          EXPECT(s.traces_kernels());
          EXPECT(!s.profiler.capturing());
          s.ranges.on_push(batch, {});
          EXPECT(!s.profiler.capturing());
          s.ranges.on_pop(batch, {});
          EXPECT(s.profiler.capturing());
          s.profiler.step();
          EXPECT(!s.profiler.capturing());
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
        }) == "");
}

TEST_CASE("gpuprof_step() counts once if its own range is the step range") {
  variables const schedule{{"GPUPROF_SCHEDULE", "1,0,2,1"}, {"GPUPROF_STEP_RANGE", "gpuprof:step"}};
  CHECK(in_a_process(schedule, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.profiler.step();
          EXPECT(s.profiler.capturing());
          s.profiler.step();
          EXPECT(s.profiler.capturing());
          s.profiler.step();
          EXPECT(!s.profiler.capturing());
        }) == "");
}

TEST_CASE("gpuprof_step() opens a range, but not if ranges are off") {
  for (auto const* const trace : {"cuda,nvtx", "cuda"})
    CHECK(in_a_process({{"GPUPROF_TRACE", trace}}, [&](profiler_scene& s) {
            s.profiler.cuda_initialized();
            for (int i = 0; i < 3; ++i) s.profiler.step();
            auto const open = this_thread_log()->ranges.size();
            EXPECT(open == (std::string(trace) == "cuda" ? 0 : 1));
          }) == "");
}

TEST_CASE("a capture change while another thread switches is left to that thread") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          bool once = false;
          s.cupti.when_called("cuptiActivityEnable", [&] {
            if (std::exchange(once, true)) return;
            // It waits a moment for this thread, which waits for it here.
            std::thread([&] { s.cuda.profiler_stop(); }).join();
          });
          s.cuda.profiler_start();
          EXPECT(once);
          EXPECT(!s.profiler.capturing());
        }) == "");
}

TEST_CASE("the shutdown writes the file; nothing begins or is flushed after it") {
  CHECK(in_a_process({}, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.profiler.shut_down();
          EXPECT(!s.profiler.capturing());
          EXPECT(!s.profiler.active());
          EXPECT(std::filesystem::file_size(s.profiler.capture_path()) > 0);
          EXPECT(s.said("next: gpuprof stats") == 1);
          EXPECT(!s.profiler.start(""));
          EXPECT(!s.profiler.flush());
          s.profiler.shut_down();
          EXPECT(s.said("next: gpuprof stats") == 1);
        }) == "");
}

TEST_CASE("a process without a capture says why, once") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.profiler.shut_down();
          s.profiler.shut_down();
          EXPECT(s.said("cudaProfilerStart was never called") == 1);
          EXPECT(s.profiler.capture_path().empty());
        }) == "");
}

TEST_CASE("a child that is forked while CUDA is up can neither begin, stop nor end a capture") {
  CHECK(in_a_process({}, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          auto const child = fork();
          if (child == 0) {
            bool const inert = !s.profiler.start("") && !s.profiler.stop() && !s.profiler.flush();
            s.profiler.shut_down();
            _exit(inert && s.profiler.capturing() ? 0 : 1);
          }
          int status = -1;
          waitpid(child, &status, 0);
          EXPECT(status == 0);
          EXPECT(s.profiler.capturing());
          EXPECT(s.profiler.stop());
        }) == "");
}

TEST_CASE("after a failed write tracing ends and CUPTI is left, if nothing else takes records") {
  CHECK(in_a_process({}, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          EXPECT(s.profiler.flush());
          EXPECT(s.traces_kernels());
          let_no_file_grow();
          EXPECT(s.soon([&] { return !s.profiler.capturing(); }));
          for (auto const& outcome : {s.profiler.stop(), s.profiler.flush()}) {
            EXPECT(outcome.what == api_outcome::kind::inactive);
            EXPECT(outcome.why.starts_with("the capture is incomplete from here on: "));
          }
          let_files_grow();  // the lines of the log are in a file, too
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
          EXPECT(s.soon([&] { return s.a_call_ends(), !s.cupti.subscribed(); }));
        }) == "");
}

TEST_CASE("tracing also ends if no file can be made, and no trigger starts another capture") {
  variables nowhere = between_profiler_calls;
  nowhere.emplace_back("GPUPROF_OUTPUT", "/nowhere/at/all");
  CHECK(in_a_process(nowhere, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.cuda.profiler_start();
          EXPECT(s.soon([&] { return !s.profiler.capturing(); }));
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
          s.cuda.profiler_stop();
          s.cuda.profiler_start();
          EXPECT(!s.profiler.capturing());
          EXPECT(s.soon([&] { return s.a_call_ends(), !s.cupti.subscribed(); }));
          EXPECT(s.said("nothing is captured") == 1);
        }) == "");
}

TEST_CASE("a program that reads totals while it runs has them without a file") {
  CHECK(in_a_process({{"GPUPROF_OUTPUT", "/nowhere/at/all"}}, [](profiler_scene& s) {
          EXPECT(s.profiler.start(""));
          s.profiler.cuda_initialized();
          for (auto const& flushed : {s.profiler.flush(), s.profiler.flush()}) {
            EXPECT(flushed.what == api_outcome::kind::inactive);
            EXPECT(flushed.why.starts_with("nothing is captured"));
          }
          EXPECT(s.said("nothing is captured") == 1);
          EXPECT(s.profiler.capturing());
          EXPECT(s.traces_kernels());
        }) == "");
}

TEST_CASE("a capture whose file reaches the size limit ends with a line, for good") {
  variables limited = between_profiler_calls;
  limited.emplace_back("GPUPROF_MAX_SIZE", "100k");
  CHECK(in_a_process(limited, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          s.cuda.profiler_start();
          make_ranges(s, 4096);
          EXPECT(s.soon([&] { return !s.profiler.capturing(); }));
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
          EXPECT(s.said("the capture ends here: its file has") == 1);
          EXPECT(s.said("of the 100 kB of --max-size") == 1);
          s.cuda.profiler_start();
          EXPECT(!s.profiler.capturing());
          EXPECT(!s.profiler.start(""));
          EXPECT(s.soon([&] { return s.a_call_ends(), !s.cupti.subscribed(); }));
          auto const file = s.profiler.capture_path();
          s.profiler.shut_down();
          EXPECT(std::filesystem::file_size(file) <= 100'000);
          EXPECT(s.said("incomplete") == 0);
        }) == "");
}

TEST_CASE("a capture ends with a line when its disk has less free space than required") {
  CHECK(in_a_process({{"GPUPROF_MIN_FREE_SPACE", "1000000T"}}, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          EXPECT(s.soon([&] { return !s.profiler.capturing(); }));
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
          EXPECT(s.said("of --min-free-space") == 1);
          EXPECT(!s.profiler.start(""));
          EXPECT(std::filesystem::exists(s.profiler.capture_path()));
        }) == "");
}

TEST_CASE("no own thread wakes periodically before a capture, or after the last one", "[timing]") {
  CHECK(in_a_process(between_profiler_calls, [](profiler_scene& s) {
          s.profiler.cuda_initialized();
          EXPECT(s.soon(sleep_while_nothing_happens));
          s.cuda.profiler_start();
          EXPECT(s.soon([&] { return std::filesystem::exists(s.profiler.capture_path()); }));
          s.cuda.profiler_stop();
          EXPECT(s.soon([&] { return !s.traces_kernels(); }));
          EXPECT(s.soon(sleep_while_nothing_happens));
          s.cuda.profiler_start();  // and it is there at once
          EXPECT(s.traces_kernels());
        }) == "");
}

TEST_CASE("a delay that is set while all threads sleep is kept") {
  CHECK(
      in_a_process({{"GPUPROF_DELAY", "0.3"}, {"GPUPROF_DURATION", "0.3"}}, [](profiler_scene& s) {
        s.profiler.cuda_initialized();
        EXPECT(!s.profiler.capturing());
        EXPECT(s.soon([&] { return s.profiler.capturing(); }));
        EXPECT(s.soon([&] { return !s.profiler.capturing(); }));
        EXPECT(s.soon([&] { return s.a_call_ends(), !s.cupti.subscribed(); }));
      }) == "");
}

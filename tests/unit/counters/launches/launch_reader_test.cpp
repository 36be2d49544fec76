// SPDX-License-Identifier: Apache-2.0
// Launches of a program are read, or not, while other threads of it launch as well; with a
// pretended CUPTI and GPU.
#include "guest/counters/launches/launch_reader.hpp"

#include "base/time.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::fake_cupti;

namespace {

std::atomic<std::uint64_t> times_asked{0};

std::mutex asked_lock;  // protects the next
std::set<CUstream> asked_about;
void note_question(CUstream stream) {
  std::lock_guard const lock(asked_lock);
  asked_about.insert(stream);
}

CUresult CUDAAPI is_done(CUstream stream) {
  note_question(stream);
  ++times_asked;
  return CUDA_SUCCESS;
}
CUresult CUDAAPI is_not_captured(CUstream stream, CUstreamCaptureStatus* status) {
  note_question(stream);
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

std::atomic<bool> has_work{false};
CUresult CUDAAPI is_done_unless_it_has_work(CUstream) {
  return has_work.load() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

cuda_driver idle_gpu() {
  cuda_driver driver;
  driver.cuStreamQuery = is_done;
  driver.cuStreamIsCapturing = is_not_captured;
  return driver;
}

cuda_driver gpu_with_work() {
  auto driver = idle_gpu();
  driver.cuStreamQuery = is_done_unless_it_has_work;
  return driver;
}

reading_options some_launches() {
  reading_options options;
  options.words = {"sm__cycles_active.avg"};
  return options;
}

reading_options every_launch() {
  reading_options options;
  options.every_launch = true;
  options.words = {"sm__cycles_active.avg"};
  return options;
}

/// A GPU that works for 1 ms on each launch, and a driver that lets a program be 600 ms ahead.
struct gpu_with_a_queue {
  static constexpr std::uint64_t ms = 1'000'000, room = 600 * ms;
  static inline std::atomic<std::uint64_t> busy_until{0};

  static CUresult CUDAAPI query(CUstream) {
    return monotonic_ns() < busy_until.load() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
  }
  static void launch() {
    while (busy_until.load() > monotonic_ns() + room)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    busy_until.store(std::max(busy_until.load(), monotonic_ns()) + ms);
  }
  static cuda_driver driver() {
    auto made = idle_gpu();
    made.cuStreamQuery = query;
    return made;
  }
};

void until(std::function<bool()> const& holds) {
  while (!holds()) std::this_thread::yield();
}

/// As in a process a reader is never destroyed, but stays reachable, which is no leak.
launch_reader& kept(launch_reader* made) {
  static auto& all = *new std::vector<launch_reader*>;
  all.push_back(made);
  return *made;
}

/// A call of the program that launches a kernel.
struct launch_of_program {
  launch_of_program() {
    parameters.f = reinterpret_cast<CUfunction>(std::uintptr_t{64});
    parameters.gridDimX = 1;
    parameters.blockDimX = 32;
    call.context = reinterpret_cast<CUcontext>(std::uintptr_t{128});
    call.functionParams = &parameters;
    call.symbolName = "kernel";
    call.correlationId = 7;
  }
  cuLaunchKernel_params parameters{};
  CUpti_CallbackData call{};
  mutable call_in_flight own;
};

/// Reads around every launch or some, on a thread of its own.
struct read_program {
  explicit read_program(reading_options options = every_launch(), cuda_driver gpu = idle_gpu(),
                        std::chrono::milliseconds between_turns = {})
      : reader(kept(new launch_reader(cupti.library.api, gpu, std::move(options), budget,
                                      next_metric, halted))) {
    reader.passage().callbacks_begin();
    reader.passage().resume();
    reader.passage().context_made(launch_of_program().call.context);
    keeper = std::jthread([this, between_turns] {
      while (!is_over.load()) {
        reader.turn(turn_kind::usual, metrics, launches,
                    [](std::string const&) { return name_id{1}; });
        std::this_thread::sleep_for(between_turns);
      }
      reader.turn(turn_kind::closing, metrics, launches,
                  [](std::string const&) { return name_id{1}; });
    });
  }
  ~read_program() {
    is_over.store(true);
    reader.passage().pause();
  }
  void enters(launch_of_program const& launch) {
    reader.passage().entered(
        launch.own, {.call = launch_call::kernel, .default_stream_per_thread = false}, launch.call);
  }
  /// True: its counters were read.
  bool leaves(launch_of_program const& launch) {
    return reader.passage().left(launch.own, launch.call, false).ran_to.value != 0;
  }
  std::uint64_t told() const {
    auto const& counts = reader.counts();
    return counts.read + counts.disturbed + counts.failed;
  }

  fake_cupti cupti;
  std::atomic<bool> halted{false}, is_over{false};
  std::uint32_t next_metric = 1;
  sampling_budget budget{0};
  std::vector<metric_record> metrics;
  std::vector<counter_reading> launches;
  launch_reader& reader;
  std::jthread keeper;
};

}  // namespace

TEST_CASE("a single launch is read") {
  read_program program;
  launch_of_program launch;
  // Not while the keeper prepares, or was slower than the call has patience.
  while (program.reader.counts().read == 0) {
    REQUIRE_FALSE(program.reader.has_given_up());
    program.enters(launch);
    (void)program.leaves(launch);
  }
  CHECK(program.cupti.count("cuptiRangeProfilerPushRange") != 0);
  CHECK(program.cupti.count("cuptiRangeProfilerPopRange") != 0);
}

TEST_CASE("a launch before the counters were set up counts as unread") {
  fake_cupti cupti;
  std::atomic<bool> halted{false};
  std::uint32_t next_metric = 1;
  sampling_budget budget{0};
  auto& reader = kept(new launch_reader(cupti.library.api, idle_gpu(), some_launches(), budget,
                                        next_metric, halted));
  reader.passage().callbacks_begin();
  reader.passage().resume();
  launch_of_program const launch;
  reader.passage().context_made(launch.call.context);
  reader.passage().entered(
      launch.own, {.call = launch_call::kernel, .default_stream_per_thread = false}, launch.call);
  reader.passage().left(launch.own, launch.call, false);
  CHECK(reader.signatures().signatures == 1);
  CHECK(reader.signatures().unread == 1);
}

TEST_CASE("for a launch that fails nothing is read or kept, whatever its parameters") {
  read_program program;
  auto const nothing = std::uintptr_t{16};
  auto const fails = [&](auto const& ruin) {
    launch_of_program launch;
    auto result = 1;
    ruin(launch);
    program.enters(launch);
    launch.call.functionReturnValue = &result;
    CHECK_FALSE(program.leaves(launch));
  };
  for (auto i = 0; i < 3; ++i) {
    fails([&](auto& l) { l.call.symbolName = reinterpret_cast<char const*>(nothing); });
    fails([&](auto& l) { l.parameters.kernelParams = reinterpret_cast<void**>(nothing); });
    fails([&](auto& l) { l.parameters.extra = reinterpret_cast<void**>(nothing); });
    fails([&](auto& l) { l.parameters.hStream = reinterpret_cast<CUstream>(nothing); });
  }
  CHECK(asked_about.count(reinterpret_cast<CUstream>(nothing)) == 0);
  CHECK(program.reader.counts().unknown == 0);
  CHECK(program.reader.counts().cooperative == 0);
}

TEST_CASE("if every launch is read, a queue of 600 ms is finished first") {
  gpu_with_a_queue::busy_until.store(monotonic_ns() + gpu_with_a_queue::room);
  // Between the turns of the worker there is time enough to be far ahead again.
  read_program program(every_launch(), gpu_with_a_queue::driver(), std::chrono::milliseconds(20));
  launch_of_program launch;
  auto const deadline = monotonic_ns() + 8'000 * gpu_with_a_queue::ms;
  while (program.reader.counts().read == 0 && monotonic_ns() < deadline) {
    program.enters(launch);
    gpu_with_a_queue::launch();
    (void)program.leaves(launch);
  }
  CHECK(program.reader.counts().read > 0);
}

TEST_CASE("a kernel with the handle of an unloaded one is judged by its own name") {
  auto options = every_launch();
  options.skips = [](char const* name) { return std::string_view(name) == "collective"; };
  read_program program(std::move(options));
  launch_of_program launch;
  auto const launch_as = [&](char const* name) {
    launch.call.symbolName = name;
    program.enters(launch);
    (void)program.leaves(launch);
    return program.reader.counts().by_name.load();
  };
  CHECK(launch_as("kernel") == 0);
  program.reader.passage().code_unloads();
  CHECK(launch_as("collective") == 1);
  CHECK(launch_as("collective") == 2);
  program.reader.passage().code_unloads();
  CHECK(launch_as("kernel") == 2);
}

TEST_CASE("a launch interrupted by another one is not counted as read") {
  read_program program;
  auto is_read = false;
  std::uint64_t told_before = 0, read_before = 0;
  while (!is_read) {
    REQUIRE_FALSE(program.reader.has_given_up());
    told_before = program.told();
    read_before = program.reader.counts().read;
    launch_of_program launch, other;
    program.enters(launch);
    // The gate is shut: it waits, loses patience and goes on by itself.
    std::thread([&] {
      program.enters(other);
      (void)program.leaves(other);
    }).join();
    is_read = program.leaves(launch);
  }
  until([&] { return program.told() != told_before; });
  CHECK(program.reader.counts().read == read_before);
}

TEST_CASE("counters are set up when the program has just waited for the GPU") {
  has_work = true;
  read_program program(some_launches(), gpu_with_work());
  launch_of_program launch;
  auto waits = 0;
  while (program.cupti.count("cuptiRangeProfilerStart") == 0) {
    REQUIRE_FALSE(program.reader.has_given_up());
    for (auto i = 0; i < 10; ++i) {
      program.enters(launch);
      (void)program.leaves(launch);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_work = false;
    program.reader.passage().work_waited_for();
    program.enters(launch);
    has_work = true;
    (void)program.leaves(launch);
    ++waits;
  }
  // Half a second later it would have been slowed down until the GPU had worked off all.
  CHECK(waits < 15);
  has_work = false;
}

namespace {

CUcontext context_number(std::uintptr_t n) {
  return reinterpret_cast<CUcontext>(n * 64);
}

/// Reads around every launch, where the test is the worker. It has heard of contexts just made.
struct worked_by_hand {
  explicit worked_by_hand(std::uintptr_t contexts = 1)
      : reader(kept(new launch_reader(cupti.library.api, idle_gpu(), every_launch(), budget,
                                      next_metric, halted))) {
    reader.passage().callbacks_begin();
    reader.passage().resume();
    for (std::uintptr_t n = 1; n <= contexts; ++n) reader.passage().context_made(context_number(n));
  }
  ~worked_by_hand() { turn(turn_kind::closing); }
  void turn(turn_kind how = turn_kind::usual) {
    reader.turn(how, metrics, launches, [](std::string const&) { return name_id{1}; });
  }

  fake_cupti cupti;
  std::atomic<bool> halted{false};
  std::uint32_t next_metric = 1;
  sampling_budget budget{0};
  std::vector<metric_record> metrics;
  std::vector<counter_reading> launches;
  launch_reader& reader;
};

}  // namespace

TEST_CASE("a thread that destroys a context waits until the worker has left CUPTI") {
  worked_by_hand program;
  std::atomic<bool> is_inside{false}, is_ending{false};
  // The counters are not held before this has come back.
  program.cupti.when_called("cuptiRangeProfilerEnable", [&] {
    is_inside = true;
    until([&] { return is_ending.load(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_inside = false;
  });
  auto found_inside = true;
  std::jthread const worker([&] { program.turn(); });
  until([&] { return is_inside.load(); });
  is_ending = true;
  program.reader.passage().context_ending();
  found_inside = is_inside.load();
  program.reader.passage().context_ended();
  CHECK_FALSE(found_inside);
}

TEST_CASE("the counters of a context are released before any context is destroyed") {
  worked_by_hand program;
  program.turn();
  REQUIRE(program.reader.holds_counters());
  std::atomic<bool> has_ended{false};
  std::jthread const ending([&] {
    program.reader.passage().context_ending();
    CHECK_FALSE(program.reader.holds_counters());
    program.reader.passage().context_ended();
    has_ended = true;
  });
  until([&] {
    program.reader.release_for_endings();
    return has_ended.load();
  });
}

TEST_CASE("counters of a GPU are set up for one of its contexts at a time") {
  worked_by_hand program(2);
  for (auto turns = 0; turns < 5; ++turns) program.turn();
  CHECK(program.cupti.count("cuptiRangeProfilerEnable") == 1);
  program.reader.passage().context_gone(context_number(1));
  for (auto turns = 0; turns < 5; ++turns) program.turn();
  CHECK(program.cupti.count("cuptiRangeProfilerEnable") == 2);
}

TEST_CASE("a stream that may have been destroyed while callbacks were off is not queried") {
  worked_by_hand program(0);
  launch_of_program launch;
  program.reader.passage().entered(
      launch.own, {.call = launch_call::kernel, .default_stream_per_thread = false}, launch.call);
  (void)program.reader.passage().left(launch.own, launch.call, false);
  program.reader.passage().pause();
  times_asked = 0;
  program.reader.passage().callbacks_begin();
  program.reader.passage().resume();
  program.reader.passage().context_waited_for(launch.call);
  program.turn();
  CHECK(program.cupti.count("cuptiRangeProfilerStart") == 1);  // the context was found idle
  CHECK(times_asked == 0);
}

TEST_CASE("contexts that are created and destroyed are read one after the other, however many") {
  worked_by_hand program(0);
  constexpr std::uintptr_t many = 150;
  for (std::uintptr_t n = 1; n <= many; ++n) {
    program.reader.passage().context_made(context_number(n));
    program.turn();
    program.reader.passage().context_gone(context_number(n));
    program.turn();
  }
  CHECK(program.cupti.count("cuptiRangeProfilerEnable") == many);
  program.reader.make_room();
  CHECK(program.reader.take_warnings().empty());
}

TEST_CASE("more contexts than the limit are reported once") {
  worked_by_hand program(65);
  program.reader.make_room();
  auto const said = program.reader.take_warnings();
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("more than 64") != std::string::npos);
  program.reader.passage().context_made(context_number(66));
  program.reader.make_room();
  CHECK(program.reader.take_warnings().empty());
}

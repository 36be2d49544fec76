// SPDX-License-Identifier: Apache-2.0
// The drain thread's rounds, with CUPTI played by the test.
#include "guest/recording/drain.hpp"

#include "base/time.hpp"
#include "capture/reader.hpp"
#include "support/catch.hpp"
#include "support/deaf_observer.hpp"
#include "support/fake_cupti.hpp"
#include "support/records.hpp"
#include "support/scratch_folder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

/// A drain with room for few buffers, in an open capture window.
struct drain_scene {
  static constexpr std::size_t buffer_bytes = 64 << 10;
  static constexpr std::size_t buffers = 8;

  /// Never destroyed: its flushing thread lives as long as the process.
  static drain_scene& writing_to(std::string const& output) { return *new drain_scene(output); }

  explicit drain_scene(std::string const& output)
      : callbacks(observer),
        tracer(cupti.library, budget, buffer_bytes, callbacks),
        filter(std::move(*kernel_filter::make(options))),
        rounds(options, budget, *filter, costs) {
    std::vector<std::string> warnings;
    REQUIRE(tracer.start({}, warnings));
    rounds.use_tracer(tracer);
    rounds.choose_output(output);
    rounds.post({true, 1, now(), "test"});
  }

  /// CUPTI's part: fills a buffer with kernels. False when it is given none.
  bool hand_over_a_buffer(timestamp_ns start = now()) {
    auto const [bytes, size] = cupti.request_buffer();
    if (bytes == nullptr) return false;
    std::size_t used = 0;
    for (; used + sizeof(CUpti_ActivityKernel10) <= size; used += sizeof(CUpti_ActivityKernel10)) {
      auto kernel = kernel_record_of("gemm", ++kernels, start.value);
      kernel.end = kernel.start + 100;
      std::memcpy(bytes + used, &kernel, sizeof kernel);
    }
    cupti.complete_buffer(bytes, size, used);
    return true;
  }

  void close_window() { rounds.post({false, 1, now(), {}}); }

  fake_cupti cupti;
  deaf_observer observer;
  launch_callbacks callbacks;
  memory_budget budget{buffers * buffer_bytes};
  cupti_tracer tracer;
  settings options;
  std::unique_ptr<kernel_filter> filter;
  app_costs costs;
  drain rounds;
  std::uint32_t kernels = 0;
};

constexpr std::uint64_t patient = 60'000'000'000;
auto const forced_flush =
    "cuptiActivityFlushAll " + std::to_string(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

bool has(std::vector<std::string> const& calls, std::string const& call) {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

std::uint64_t count_of(drain const& rounds, std::string const& name) {
  for (auto const& [counter, value] : rounds.counters())
    if (counter == name) return value;
  return 0;
}

}  // namespace

TEST_CASE("records of a flush are decoded during it, however many more than fit the buffers") {
  scratch_folder const folder;
  auto& s = drain_scene::writing_to(folder / "capture");
  constexpr unsigned many = 20 * drain_scene::buffers;
  constexpr std::uint64_t patience_ns = 5'000'000'000;  // of a test that is going to fail
  std::atomic<unsigned> handed_over{0};
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    auto const deadline = monotonic_ns() + patience_ns;
    while (handed_over < many && monotonic_ns() < deadline) {
      if (s.hand_over_a_buffer())
        ++handed_over;
      else
        std::this_thread::yield();
    }
  });
  s.rounds.round(true);
  s.cupti.when_called("cuptiActivityFlushAll", [] {});
  CHECK(handed_over == many);
  // The last of them wait for their launches, half a second at most.
  auto const deadline = monotonic_ns() + 12 * patience_ns;
  while (s.rounds.totals().snapshot().kernel_count != s.kernels && monotonic_ns() < deadline)
    s.rounds.round(false);
  CHECK(s.rounds.totals().snapshot().kernel_count == s.kernels);
}

TEST_CASE("a drain is idle before any capture, and after one when a whole flush brought nothing") {
  scratch_folder const folder;
  auto& s = drain_scene::writing_to(folder / "capture");
  CHECK(s.rounds.at_rest(patient));
  s.rounds.round(true);
  CHECK_FALSE(s.rounds.at_rest(0));  // the window is open, however long nothing comes
  s.close_window();
  s.rounds.round(false);
  CHECK_FALSE(s.rounds.at_rest(patient));
  CHECK(s.rounds.at_rest(0));  // nobody waits for longer than that
  s.rounds.round(true);
  CHECK(s.rounds.at_rest(patient));
}

TEST_CASE("a flush that was not possible does not count as one that brought nothing") {
  scratch_folder const folder;
  auto& s = drain_scene::writing_to(folder / "capture");
  s.rounds.round(true);
  s.close_window();
  bool once = false;
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    if (std::exchange(once, true)) return;
    s.rounds.round(true);  // finds that somebody is flushing already
    CHECK_FALSE(s.rounds.at_rest(patient));
  });
  CHECK(s.tracer.flush(false));
  CHECK(once);
  s.rounds.round(true);
  CHECK(s.rounds.at_rest(patient));
}

TEST_CASE("a flush is answered even if the next capture begins while it waits for the last") {
  scratch_folder const folder;
  auto& s = drain_scene::writing_to(folder / "capture");
  s.options.flush_timeout_ms = 120'000;
  s.rounds.round(true);
  s.close_window();
  s.rounds.round(false);
  bool once = false;
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    if (std::exchange(once, true)) return;
    s.rounds.post({true, 2, now(), "test"});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it is seen while CUPTI flushes
  });
  std::thread answers([&] {
    while (!s.rounds.serve_requests()) std::this_thread::yield();
  });
  CHECK(s.rounds.flush_and_wait(60'000));
  CHECK(once);
  s.rounds.post({false, 2, now(), {}});
  CHECK(s.rounds.finish_and_wait(200'000));
  answers.join();
}

TEST_CASE("a thread that waits for a flush gets the drain thread's answer, or times out") {
  scratch_folder const folder;
  auto& s = drain_scene::writing_to(folder / "capture");
  CHECK_FALSE(s.rounds.serve_requests());  // nobody has asked
  CHECK(s.rounds.path().empty());
  CHECK_FALSE(s.rounds.flush_and_wait(1));  // nobody answers
  std::thread answers([&] {
    while (!s.rounds.serve_requests()) std::this_thread::yield();
  });
  CHECK(s.rounds.flush_and_wait(60'000));
  CHECK_FALSE(s.rounds.path().empty());
  s.close_window();
  CHECK(s.rounds.finish_and_wait(60'000));
  answers.join();
  CHECK(s.rounds.flush_and_wait(0));  // all is on disk, and no thread is there any more
}

TEST_CASE(
    "the last round writes records still in CUPTI, the windows in order, and dropped records") {
  scratch_folder const folder;
  auto& s = drain_scene::writing_to(folder / "capture");
  s.close_window();
  s.rounds.post({true, 2, now(), "again"});
  auto const inside = now();
  s.rounds.post({false, 2, now(), {}});
  s.cupti.drop_records(7);
  bool once = false;
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    if (!std::exchange(once, true)) REQUIRE(s.hand_over_a_buffer(inside));
  });
  CHECK_FALSE(s.rounds.finish_and_wait(0));
  CHECK(s.rounds.serve_requests());
  CHECK(has(s.cupti.calls(), forced_flush));

  auto written = capture::reader::open(s.rounds.path());
  REQUIRE(written);
  CHECK(written->warnings().empty());
  CHECK(written->row_count<kernel_record>() == s.kernels);
  std::string windows;
  written->for_each<window_record>([&](std::span<window_record const> rows) {
    for (auto const& window : rows)
      if (window.end.value != 0) windows += std::string(written->text(window.trigger)) + ' ';
  });
  CHECK(windows == "test again ");
  CHECK(count_of(s.rounds, "lost.records_dropped_by_cupti") == 7);
}

TEST_CASE("kernels whose launches are never seen are written at the end of the capture") {
  scratch_folder const folder;
  auto& s = drain_scene::writing_to(folder / "capture");
  s.rounds.round(false);
  REQUIRE(s.hand_over_a_buffer());
  s.close_window();
  s.rounds.round(true);
  CHECK(s.rounds.totals().snapshot().kernel_count == 0);  // they wait for their launches
  s.rounds.last_round();
  CHECK(s.rounds.totals().snapshot().kernel_count == s.kernels);
  CHECK(s.rounds.at_rest(patient));
  auto written = capture::reader::open(s.rounds.path());  // while it is open for more
  REQUIRE(written);
  CHECK(written->row_count<kernel_record>() == s.kernels);
}

TEST_CASE("totals are kept even without a file") {
  auto& s = drain_scene::writing_to("/no such folder/capture");
  s.rounds.round(false);
  REQUIRE(s.hand_over_a_buffer());
  s.close_window();
  s.rounds.last_round();
  CHECK(s.rounds.path().empty());
  CHECK(s.rounds.totals().snapshot().kernel_count == s.kernels);
}

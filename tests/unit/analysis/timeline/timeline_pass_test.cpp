// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/timeline_pass.hpp"

#include "items.hpp"
#include "support/catch.hpp"

#include <span>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

constexpr auto gpu = device_id{0};
constexpr auto program = static_cast<thread_index>(1);
constexpr name_id wait_call{3};

struct pass_without_ranges {
  range_tree ranges;
  step_ranges steps;
  timeline_pass pass;
  struct idle_stretch {
    device_id device{};
    time_bucket bucket{};
    timestamp_ns begin, end;
  };
  std::vector<idle_stretch> idle;

  explicit pass_without_ranges(std::span<time_stretch const> phase = {})
      : pass({.ranges = &ranges,
              .steps = &steps,
              .run = {.start_delay = 5'000,
                      .usual_delay = 6'000,
                      .back_to_back = 1'000,
                      .launch_distance = 10'000,
                      .kernel_length = 5'000},
              .main_thread = program,
              .calls_recorded = true,
              .loads_data = {},
              .fits_beside = {},
              .on_idle =
                  [this](device_id device, time_bucket bucket, timestamp_ns begin,
                         timestamp_ns end) {
                    idle.push_back({device, bucket, begin, end});
                  },
              .phase = phase}) {}

  bucket_times of(device_id device = gpu) { return pass.ledger().by_device().at(device); }
};

}  // namespace

TEST_CASE("the time of a GPU is start-up, work, idle by cause, and the time after its last work") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(1000));
  made.pass.add_kernel(work(100, 200, 90));
  made.pass.add_call(
      program,
      {.begin = us(110), .end = us(203), .name = wait_call, .kind = call_kind::synchronize}, {});
  made.pass.add_kernel(work(230, 300, 222));
  made.pass.finish();
  auto const times = made.of();
  CHECK(times.total() == 1'000'000);
  CHECK(times[time_bucket::start_up] == 100'000);
  CHECK(times[time_bucket::compute] == 170'000);
  CHECK(times[time_bucket::synchronization] == 30'000);
  CHECK(times[time_bucket::nothing_to_do] == 700'000);
  REQUIRE(made.pass.gaps().sums().size() == 1);
  auto const& [key, sum] = *made.pass.gaps().sums().begin();
  CHECK(key.call == wait_call);
  CHECK_FALSE(key.reads_result);
  CHECK(sum.count == 1);
}

TEST_CASE("reported stretches of idle time equal those of the ledger, in order of time") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(1000));
  made.pass.add_kernel(work(100, 200, 90));
  made.pass.add_reading(gpu, us(1220), us(1230));
  made.pass.add_kernel(work(250, 300, 245));
  made.pass.begin_window(us(5000), us(9000));
  made.pass.add_kernel(work(8000, 8100, 5100));
  auto other = work(8200, 8300, 8190);
  other.device = device_id{1};
  made.pass.add_kernel(other);
  made.pass.finish();
  for (auto const device : {gpu, device_id{1}}) {
    bucket_times told;
    timestamp_ns until{};
    for (auto const& one : made.idle) {
      if (one.device != device) continue;
      CHECK(one.begin >= until);
      until = one.end;
      told[one.bucket] += static_cast<double>((one.end - one.begin).value);
    }
    auto const times = made.of(device);
    CHECK(told.total() > 0);
    for (std::size_t i = 0; i < time_bucket_count; ++i) {
      auto const bucket = static_cast<time_bucket>(i);
      auto const is_told = is_idle(bucket) || bucket == time_bucket::profiler;
      CHECK(told[bucket] == (is_told ? times[bucket] : 0));
    }
  }
  CHECK(made.of()[time_bucket::profiler] > 0);
  CHECK(made.of(device_id{1})[time_bucket::start_up] > 1'000'000);
}

TEST_CASE("only the phase counts, and work outside of it says why the GPU idled inside") {
  std::vector<time_stretch> const phase = {{us(150), us(215)}, {us(600), us(700)}};
  pass_without_ranges made(phase);
  made.pass.begin_window(us(0), us(1000));
  made.pass.add_kernel(work(100, 200, 90));
  made.pass.add_call(
      program,
      {.begin = us(110), .end = us(203), .name = wait_call, .kind = call_kind::synchronize}, {});
  made.pass.add_kernel(work(230, 300, 222));
  auto elsewhere = work(400, 500, 390);
  elsewhere.device = device_id{1};
  made.pass.add_kernel(elsewhere);
  made.pass.add_kernel(work(650, 660, 640));
  made.pass.add_kernel(work(900, 910, 890));
  made.pass.finish();
  auto const times = made.of();
  CHECK(times.total() == 165'000);
  CHECK(times[time_bucket::compute] == 60'000);
  CHECK(times[time_bucket::synchronization] == 15'000);
  CHECK(times[time_bucket::start_up] == 0);
  CHECK(times[time_bucket::nothing_to_do] == 0);
  CHECK(times[time_bucket::cpu_work] == 90'000);
  CHECK(made.pass.ledger().by_device().size() == 1);  // the other GPU did nothing in the phase
  CHECK(made.pass.items() == 1);                      // that began in the phase
  CHECK(made.pass.kernels().size() == 1);
  double told = 0;
  for (auto const& one : made.idle)
    if (one.device == gpu) told += static_cast<double>((one.end - one.begin).value);
  CHECK(told == 1'000'000 - 190'000);  // idle time of the whole window
}

TEST_CASE("a small copy to the host and a wait for it count as reading a result") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(400));
  made.pass.add_kernel(work(10, 100, 0));
  auto copy = of_kind(work(102, 103, 20), item_kind::transfer);
  copy.is_copy = true;
  made.pass.add_call(
      program, {.begin = us(25), .end = us(106), .name = wait_call, .kind = call_kind::synchronize},
      {});
  made.pass.add_transfer(copy, {.kind = copy_kind::device_to_host}, 4);
  made.pass.add_kernel(work(150, 200, 143));
  made.pass.finish();
  bool any = false;
  for (auto const& [key, _] : made.pass.gaps().sums()) any = any || key.reads_result;
  CHECK(any);
  REQUIRE(made.pass.transfers().size() == 1);
  CHECK(made.pass.transfers()[0].second.bytes == 4);
}

namespace {

gpu_item small_read(double start, double end, double launched) {
  auto copy = of_kind(work(start, end, launched), item_kind::transfer);
  copy.is_copy = true;
  return copy;
}
constexpr transfer_key to_pageable{
    .kind = copy_kind::device_to_host, .destination = memory_kind::pageable, .asynchronous = true};

}  // namespace

TEST_CASE("an asynchronous copy to pageable memory is a wait, though its call is not recorded") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(1000));
  made.pass.add_kernel(work(100, 300, 90));
  made.pass.add_transfer(small_read(301, 302, 95), to_pageable, 4);
  // It returns at once, for the copy has waited already.
  made.pass.add_call(
      program,
      {.begin = us(307), .end = us(310), .name = wait_call, .kind = call_kind::synchronize}, {});
  made.pass.add_kernel(work(345, 400, 338));
  made.pass.finish();
  CHECK(made.of()[time_bucket::synchronization] == 43'000);
  CHECK(made.pass.waiting_of_launcher() == 210'000);  // 95 to 302, and 307 to 310
  bool is_read = false;
  for (auto const& [key, sum] : made.pass.gaps().sums())
    if (key.cause == time_bucket::synchronization) {
      is_read = key.reads_result && key.call == wait_call;
      // 43 less the pause, and less 8 + 7 us until the wait returned and the kernel started.
      CHECK(sum.sure_ns == 27'000);
    }
  CHECK(is_read);
}

TEST_CASE("a pageable copy without a later wait is the cause, a pinned copy is not") {
  for (auto const kind : {memory_kind::pageable, memory_kind::pinned}) {
    pass_without_ranges made;
    made.pass.begin_window(us(0), us(1000));
    made.pass.add_kernel(work(100, 300, 90));
    auto key = to_pageable;
    key.destination = kind;
    made.pass.add_transfer(small_read(301, 302, 95), key, 4);
    made.pass.add_kernel(work(345, 400, 338));
    made.pass.finish();
    auto const waits = kind == memory_kind::pageable;
    CHECK(made.of()[time_bucket::synchronization] == (waits ? 43'000 : 0));
    CHECK(made.pass.waiting_of_launcher() == (waits ? 207'000 : 0));
  }
}

TEST_CASE("the thread's time in a wait inside another wait counts once") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(1000));
  made.pass.add_kernel(work(100, 300, 90));
  made.pass.add_call(program, {.begin = us(110), .end = us(310), .kind = call_kind::blocking_copy},
                     {});
  made.pass.add_call(program, {.begin = us(120), .end = us(305), .kind = call_kind::synchronize},
                     {});
  made.pass.add_kernel(work(400, 500, 390));
  made.pass.finish();
  CHECK(made.pass.waiting_of_launcher() == 200'000);
}

TEST_CASE("warm-up includes all work launched in it, and lasts for a tenth of the kernels") {
  for (auto const tenth : {0.0, 450.0}) {
    pass_without_ranges made;
    timeline_pass pass({.ranges = &made.ranges,
                        .steps = &made.steps,
                        .run = {},
                        .main_thread = program,
                        .calls_recorded = true,
                        .tenth_launched = tenth == 0 ? timestamp_ns{} : us(tenth),
                        .loads_data = {},
                        .fits_beside = {},
                        .on_idle = {}});
    pass.begin_window(us(0), us(1000));  // a tenth of it: until 100
    pass.add_kernel(work(50, 60));
    pass.add_kernel(work(140, 150, 95));   // starts after 100
    pass.add_kernel(work(400, 410, 390));  // a long load before
    pass.add_kernel(work(600, 610, 590));
    pass.finish();
    std::uint64_t warm = 0, steady = 0;
    for (auto const& [key, sum] : pass.gaps().sums()) (key.in_warm_up ? warm : steady) += sum.count;
    CHECK(warm == (tenth == 0 ? 1 : 2));
    CHECK(steady == (tenth == 0 ? 2 : 1));
  }
}

TEST_CASE("kernels launched before a wait count before it, even if they start later") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(100'000));
  double at = 0;
  for (int step = 0; step < 20; ++step) {
    for (std::uint32_t i = 0; i < 6; ++i) {
      auto kernel = work(at + 10 * i + 8, at + 10 * i + 12, at + 10 * i);
      kernel.subject = i + 1;
      // The wait begins after the last launch and before its start.
      if (i == 5)
        made.pass.add_call(
            program, {.begin = us(at + 54), .end = us(at + 64), .kind = call_kind::synchronize},
            {});
      made.pass.add_kernel(kernel);
    }
    at += 100;
  }
  made.pass.finish();
  auto const found = made.pass.sequences();
  REQUIRE(found.size() == 1);
  CHECK(found[0].repetitions == 20);
  CHECK_FALSE(found[0].has_waits);
  CHECK(found[0].between_ns == 0);
}

TEST_CASE("a gap around a counter reading belongs to the profiler") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(10'000));
  made.pass.add_kernel(work(0, 100, -10));
  made.pass.add_reading(gpu, us(700), us(900));
  made.pass.add_kernel(work(800, 850, 790));
  made.pass.add_kernel(work(1500, 10'000, 1490));
  made.pass.finish();
  CHECK(made.of()[time_bucket::profiler] == 1'350'000);
}

TEST_CASE("work launched while the profiler held launches is not a dependency") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(10'000));
  made.pass.add_kernel(work(0, 1000, -10));
  made.pass.add_hold(us(900), us(5000));
  made.pass.add_kernel(work(5100, 6000, 890));
  made.pass.add_kernel(work(7000, 10'000, 6990));
  made.pass.finish();
  CHECK(made.of()[time_bucket::profiler] == 4'100'000);
  CHECK(made.of()[time_bucket::dependency] == 0);
}

TEST_CASE("time of the host before the profiler held its launch still belongs to the host") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(100'000));
  made.pass.add_kernel(work(0, 1000, -10));
  made.pass.add_hold(us(20'000), us(50'000));
  made.pass.add_kernel(work(50'010, 90'000, 19'990));
  made.pass.finish();
  CHECK(made.of()[time_bucket::profiler] == 30'010'000);
  CHECK(made.of()[time_bucket::dependency] == 0);
  CHECK(made.of().idle() == 19'000'000 + 10'000'000);  // and the end
}

TEST_CASE("a hold is not the cause of a gap if it did not hold the launch of the next work") {
  for (auto const launched : {500, 59'000, 61'000}) {
    INFO(launched);
    pass_without_ranges made;
    made.pass.begin_window(us(0), us(200'000));
    made.pass.add_kernel(work(0, 10'000, -10));
    made.pass.add_hold(us(57'000), us(60'000));
    made.pass.add_kernel(work(110'000, 200'000, launched));
    made.pass.finish();
    auto const kept = launched == 59'000;  // from then to the end of the hold, and what it delayed
    CHECK(made.of()[time_bucket::profiler] == (kept ? 51'000'000 : 0));
    CHECK(made.of().idle() == (kept ? 49'000'000 : 100'000'000));
  }
}

TEST_CASE("a gap with a hold inside is counted once") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(100'000));
  made.pass.add_kernel(work(0, 1000, -10));
  made.pass.add_reading(gpu, us(10'000), us(12'000));
  made.pass.add_hold(us(20'000), us(50'000));
  made.pass.add_kernel(work(50'010, 100'000, 19'990));
  made.pass.finish();
  std::uint64_t gaps = 0;
  double idle_ns = 0;
  for (auto const& [_, sum] : made.pass.gaps().sums()) {
    gaps += sum.count;
    idle_ns += sum.idle_ns;
  }
  CHECK(gaps == 1);
  CHECK(idle_ns == 8'000'000 + 7'000'000);  // 1 ms around a reading is the profiler's, too
}

TEST_CASE("a second window is a separate stretch, and a GPU used only in it has both") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(100));
  made.pass.add_kernel(work(10, 20));
  made.pass.begin_window(us(1000), us(1100));
  auto other = work(1010, 1020);
  other.device = device_id{1};
  made.pass.add_kernel(other);
  made.pass.finish();
  CHECK(made.of().total() == 200'000);
  CHECK(made.of(device_id{1}).total() == 200'000);
}

TEST_CASE("a kernel counts as followed if the next one was queued in time") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(1000));
  auto first = work(100, 200, 0);
  auto second = work(201, 300, 10);
  second.subject = 2;
  auto third = work(400, 500, 394);  // launched when the GPU was idle
  third.subject = 3;
  for (auto const& one : {first, second, third}) made.pass.add_kernel(one);
  made.pass.finish();
  auto const& kernels = made.pass.kernels();
  CHECK(kernels.at(kernel_key(gpu, 1)).followed_ns == 100'000);
  CHECK(kernels.at(kernel_key(gpu, 2)).followed_ns == Approx(1'000));
  CHECK(kernels.at(kernel_key(gpu, 1)).total_ns == 100'000);
}

TEST_CASE("consecutive copies of one kind are counted, a kernel between them ends the row") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(1000));
  transfer_key const key{.kind = copy_kind::host_to_device, .is_small = true};
  double at = 10;
  for (int i = 0; i < 6; ++i, at += 10) {
    auto copy = of_kind(work(at, at + 5), item_kind::transfer);
    copy.is_copy = true;
    made.pass.add_transfer(copy, key, 100);
    if (i == 2) made.pass.add_kernel(work(at + 6, at + 9));
  }
  made.pass.finish();
  REQUIRE(made.pass.transfers().size() == 1);
  CHECK(made.pass.transfers()[0].second.count == 6);
  CHECK(made.pass.transfers()[0].second.in_a_row == 4);
}

TEST_CASE("time before the first step and after the last is not between steps") {
  std::vector<range_begin> begins;
  std::vector<range_end> ends;
  for (std::uint32_t i = 1; i <= 2; ++i) {
    begins.push_back({.time = us(20'000.0 * i), .range = range_id{i}, .thread = program});
    ends.push_back({us(20'000.0 * i + 5'000), range_id{i}, program});
  }
  pass_without_ranges made;
  made.ranges = range_tree(begins, ends, us(100'000));
  made.steps = {"step", {0, 1}, {0, 1}};
  made.pass.begin_window(us(0), us(100'000));
  for (auto const at : {1'000, 21'000, 41'000, 61'000}) made.pass.add_kernel(work(at, at + 10));
  made.pass.finish();
  CHECK(made.of()[time_bucket::between_steps] == 19'990'000);
  CHECK(made.of()[time_bucket::cpu_work] == 2 * 19'990'000);
}

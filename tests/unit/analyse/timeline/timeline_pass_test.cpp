// SPDX-License-Identifier: Apache-2.0
#include "analyse/timeline/timeline_pass.hpp"

#include "items.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

constexpr auto gpu = device_id{0};
constexpr auto program = static_cast<thread_index>(1);
constexpr name_id wait_call{3};

struct pass_without_ranges {
  range_tree ranges;
  step_ranges steps;
  timeline_pass pass{{.ranges = &ranges,
                      .steps = &steps,
                      .run = {.start_delay = 5'000,
                              .usual_delay = 6'000,
                              .back_to_back = 1'000,
                              .launch_distance = 10'000,
                              .kernel_length = 5'000},
                      .main_thread = program,
                      .calls_recorded = true,
                      .loads_data = {},
                      .fits_beside = {}}};

  bucket_times of(device_id device = gpu) { return pass.ledger().by_device().at(device); }
};

}  // namespace

TEST_CASE("a GPU's time is start-up, work, idle by cause, and what follows its last work") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(1000));
  made.pass.add_kernel(work(100, 200, 90));
  made.pass.add_call(
      program,
      {.begin = us(110), .end = us(203), .name = wait_call, .kind = call_kind::synchronise}, {});
  made.pass.add_kernel(work(230, 300, 222));
  made.pass.finish();
  auto const times = made.of();
  CHECK(times.total() == 1'000'000);
  CHECK(times[time_bucket::start_up] == 100'000);
  CHECK(times[time_bucket::compute] == 170'000);
  CHECK(times[time_bucket::synchronisation] == 30'000);
  CHECK(times[time_bucket::nothing_to_do] == 700'000);
  REQUIRE(made.pass.gaps().sums().size() == 1);
  auto const& [key, sum] = *made.pass.gaps().sums().begin();
  CHECK(key.call == wait_call);
  CHECK_FALSE(key.reads_result);
  CHECK(sum.count == 1);
}

TEST_CASE("a few bytes to the host and a wait for them are a result that the program reads") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(400));
  made.pass.add_kernel(work(10, 100, 0));
  auto copy = of_kind(work(102, 103, 20), item_kind::transfer);
  copy.is_copy = true;
  made.pass.add_call(
      program, {.begin = us(25), .end = us(106), .name = wait_call, .kind = call_kind::synchronise},
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

TEST_CASE("a gap around a reading of counters is the profiler's") {
  pass_without_ranges made;
  made.pass.begin_window(us(0), us(10'000));
  made.pass.add_kernel(work(0, 100, -10));
  made.pass.add_reading(gpu, us(700), us(900));
  made.pass.add_kernel(work(800, 850, 790));
  made.pass.add_kernel(work(1500, 10'000, 1490));
  made.pass.finish();
  CHECK(made.of()[time_bucket::profiler] == 1'350'000);
}

TEST_CASE("a second window is another stretch of time, and a GPU used in it alone has both") {
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

TEST_CASE("a kernel is followed where the next one was queued in time") {
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

TEST_CASE("copies of one kind in a row are counted, a kernel between them ends the row") {
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

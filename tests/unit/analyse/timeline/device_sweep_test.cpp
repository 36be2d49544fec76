// SPDX-License-Identifier: Apache-2.0
#include "analyse/timeline/device_sweep.hpp"

#include "items.hpp"
#include "support/catch.hpp"

#include <random>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

struct collected {
  bucket_times busy;
  double idle_ns = 0;
  std::vector<idle_gap> gaps;
  std::vector<ended_item> ended;

  void operator()(busy_stretch const& stretch) {
    busy[stretch.bucket] += static_cast<double>((stretch.end - stretch.begin).value);
  }
  void operator()(idle_gap const& gap) {
    idle_ns += static_cast<double>((gap.end - gap.begin).value);
    gaps.push_back(gap);
  }
  void operator()(ended_item const& item) { ended.push_back(item); }
};

collected sweep(std::vector<gpu_item> const& items, double begin, double end) {
  collected sink;
  device_sweep of(us(begin), us(end));
  for (auto const& item : items) of.add(item, sink);
  of.finish(sink);
  return sink;
}

constexpr double microsecond = 1000;

}  // namespace

TEST_CASE("time before, between and after two kernels is idle, and the window is filled") {
  auto const found = sweep({work(10, 20), work(30, 50)}, 0, 100);
  CHECK(found.busy[time_bucket::compute] == 30 * microsecond);
  CHECK(found.idle_ns == 70 * microsecond);
  REQUIRE(found.gaps.size() == 3);
  CHECK(found.gaps[0].is_first);
  CHECK_FALSE(found.gaps[1].is_first);
  CHECK(found.gaps[2].after == nullptr);
}

TEST_CASE("kernels that overlap count once") {
  auto const found = sweep({work(0, 50), work(10, 20), work(40, 60)}, 0, 60);
  CHECK(found.busy[time_bucket::compute] == 60 * microsecond);
  CHECK(found.idle_ns == 0);
}

TEST_CASE("communication is told apart by what runs beside it") {
  auto const found = sweep({work(0, 40), of_kind(work(20, 60), item_kind::communication)}, 0, 60);
  CHECK(found.busy[time_bucket::compute] == 20 * microsecond);
  CHECK(found.busy[time_bucket::compute_and_communication] == 20 * microsecond);
  CHECK(found.busy[time_bucket::communication] == 20 * microsecond);
}

TEST_CASE("a copy beside a kernel is compute, and the rest of it transfer") {
  auto const found = sweep({of_kind(work(0, 30), item_kind::transfer), work(10, 20)}, 0, 30);
  CHECK(found.busy[time_bucket::compute] == 10 * microsecond);
  CHECK(found.busy[time_bucket::transfer] == 20 * microsecond);
}

TEST_CASE("how long an item was alone is known when it has ended") {
  auto const found = sweep({work(0, 30), work(20, 40)}, 0, 40);
  REQUIRE(found.ended.size() == 2);
  CHECK(found.ended[0].alone_ns == 20 * microsecond);
  CHECK(found.ended[1].alone_ns == 10 * microsecond);
}

TEST_CASE("what lies outside of the window is cut off") {
  auto const found = sweep({work(-20, 10), work(50, 200)}, 0, 100);
  CHECK(found.busy.total() == 60 * microsecond);
  CHECK(found.idle_ns == 40 * microsecond);
  CHECK(sweep({work(200, 300)}, 0, 100).idle_ns == 100 * microsecond);
}

TEST_CASE("whatever runs, each nanosecond of the window is counted once") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<gpu_item> items;
    double at = -50;
    for (int i = 0; i < 60; ++i) {
      at += static_cast<double>(random() % 30);
      auto item = work(at, at + static_cast<double>(random() % 60));
      item.kind = static_cast<item_kind>(random() % 3);
      items.push_back(item);
    }
    auto const found = sweep(items, 0, 500);
    CHECK(found.busy.total() + found.idle_ns == 500 * microsecond);
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/device_sweep.hpp"

#include "items.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <tuple>

using namespace gpuprof;
using namespace gpuprof::host;
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

/// Of all items and the stretches between their starts and ends: who is alone in them.
std::vector<double> alone_times(std::vector<gpu_item> const& items, double begin, double end) {
  std::vector<timestamp_ns> moments = {us(begin), us(end)};
  for (auto const& item : items)
    for (auto const moment : {item.start, item.end})
      moments.push_back(std::clamp(moment, us(begin), us(end)));
  std::sort(moments.begin(), moments.end());
  std::vector<double> alone(items.size());
  for (std::size_t m = 1; m < moments.size(); ++m) {
    std::vector<std::size_t> run;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (items[i].start <= moments[m - 1] && items[i].end >= moments[m] &&
          moments[m - 1] < moments[m])
        run.push_back(i);
    auto const kernels = std::count_if(
        run.begin(), run.end(), [&](std::size_t i) { return items[i].kind == item_kind::compute; });
    for (auto const i : run)
      if (items[i].kind == item_kind::compute         ? kernels == 1
          : items[i].kind == item_kind::communication ? kernels == 0
                                                      : run.size() == 1)
        alone[i] += static_cast<double>((moments[m] - moments[m - 1]).value);
  }
  return alone;
}

std::vector<gpu_item> many_at_once(std::mt19937& random, int count) {
  std::vector<gpu_item> items;
  double at = -50;
  for (int i = 0; i < count; ++i) {
    at += static_cast<double>(random() % 30);
    auto item = work(at, at + static_cast<double>(random() % 60));
    if (random() % 8 == 0) item.end = us(at + static_cast<double>(random() % 600));
    item.kind = static_cast<item_kind>(random() % 3);
    item.subject = static_cast<std::uint32_t>(i);
    items.push_back(item);
  }
  return items;
}

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

TEST_CASE("communication is divided by the work that runs beside it") {
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

TEST_CASE("the time an item ran alone is known when it ends") {
  auto const found = sweep({work(0, 30), work(20, 40)}, 0, 40);
  REQUIRE(found.ended.size() == 2);
  CHECK(found.ended[0].alone_ns == 20 * microsecond);
  CHECK(found.ended[1].alone_ns == 10 * microsecond);
}

TEST_CASE("work outside the window is cut off") {
  auto const found = sweep({work(-20, 10), work(50, 200)}, 0, 100);
  CHECK(found.busy.total() == 60 * microsecond);
  CHECK(found.idle_ns == 40 * microsecond);
  CHECK(sweep({work(200, 300)}, 0, 100).idle_ns == 100 * microsecond);
}

TEST_CASE("each nanosecond of the window is counted exactly once") {
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

TEST_CASE("each item is returned once, in order of ends, with the time it ran alone") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 100; ++trial) {
    auto const items = many_at_once(random, 60);
    auto const alone = alone_times(items, 0, 700);
    auto const found = sweep(items, 0, 700);
    std::vector<bool> is_out(items.size());
    for (std::size_t i = 0; i < found.ended.size(); ++i) {
      auto const& ended = found.ended[i];
      CHECK(ended.alone_ns == alone[ended.item.subject]);
      CHECK_FALSE(is_out[ended.item.subject]);
      is_out[ended.item.subject] = true;
      if (i == 0) continue;
      auto const& before = found.ended[i - 1].item;
      if (before.end <= us(700) && ended.item.end <= us(700)) CHECK(before.end <= ended.item.end);
    }
    for (auto const& item : items)
      CHECK(is_out[item.subject] == (item.start < us(700) && item.end > item.start));
  }
}

TEST_CASE("a stretch belongs to the item that has run longest") {
  std::vector<std::tuple<double, double, std::uint32_t>> stretches;
  auto const take = [&](auto const& of) {
    if constexpr (requires { of.of; })
      stretches.emplace_back((of.begin - us(0)).value / microsecond,
                             (of.end - us(0)).value / microsecond, of.of.subject);
  };
  auto const named = [](gpu_item item, std::uint32_t subject) {
    item.subject = subject;
    return item;
  };
  device_sweep of(us(0), us(100));
  for (auto const& item : {named(work(0, 90), 1), named(work(10, 20), 2), named(work(30, 95), 3)})
    of.add(item, take);
  of.finish(take);
  CHECK(stretches == std::vector<std::tuple<double, double, std::uint32_t>>{
                         {0, 10, 1}, {10, 20, 1}, {20, 30, 1}, {30, 90, 1}, {90, 95, 3}});
}

TEST_CASE("200,000 concurrent kernels take no longer than as many in a row", "[timing]") {
  constexpr int count = 200'000;
  std::vector<gpu_item> items;
  for (int i = 0; i < count; ++i) items.push_back(work(i, 2 * count - i / 2));
  auto const began = std::clock();
  auto const found = sweep(items, 0, 3 * count);
  auto const seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  CHECK(found.ended.size() == count);
  CHECK(found.busy[time_bucket::compute] == 2. * count * microsecond);
  CHECK(seconds < 3);  // a look at all that run for each of them: a minute
}

// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_places.hpp"

#include "support/catch.hpp"

using gpuprof::host::page::kernel_place;
using gpuprof::host::page::kernel_places;

namespace {

kernel_place const* named(std::vector<kernel_place> const& places, std::string const& name) {
  for (auto const& one : places)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace

TEST_CASE("a launch counts for all ranges around it, each name once") {
  kernel_places made(100);
  made.open(1, 0, "step");
  made.open(2, 1, "forward");
  made.open(3, 2, "step");  // again, inside
  made.open(4, 0, "step");
  made.add(0, 100, {3, 0, 0});
  made.add(0, 10, {4, 0, 0});
  made.add(1, 1, {2, 0, 0});
  made.add(1, 1, {0, 0, 0});  // outside
  auto const ranges = made.ranges();
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].name == "step");
  REQUIRE(ranges[0].kernels.size() == 2);
  CHECK(ranges[0].kernels[0].kernel == 0);
  CHECK(ranges[0].kernels[0].launches == 2);
  CHECK(ranges[0].kernels[0].total_ns == 110);
  CHECK(ranges[0].kernels[1].launches == 1);
  auto const* const forward = named(ranges, "forward");
  REQUIRE(forward != nullptr);
  CHECK(forward->total_ns == 101);
  CHECK(made.not_placed() == 0);
}

TEST_CASE("graphs are also places") {
  kernel_places made(100);
  made.open(1, 0, "step");
  made.add(5, 10, {1, 2, 0});
  made.add(6, 10, {0, 2, 0});
  REQUIRE(made.graphs().size() == 1);
  CHECK(made.graphs()[0].name == "[CUDA graph 2]");
  CHECK(made.graphs()[0].kernels.size() == 2);
  CHECK(made.ranges()[0].kernels.size() == 1);
}

TEST_CASE("a million range names take bounded memory, and launches without a place are counted") {
  kernel_places made(100);
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    made.open(i, 0, "step " + std::to_string(i));
    made.add(0, 10, {i, 0, 0});
  }
  CHECK(made.ranges().size() < 100);
  CHECK(made.ranges().size() > 50);
  CHECK(made.not_placed() == 10'000 - made.ranges().size());
}

TEST_CASE("a launch in an unknown range has no place") {
  kernel_places made(100);
  made.add(0, 10, {77, 0, 0});
  CHECK(made.ranges().empty());
  CHECK(made.not_placed() == 1);
}

TEST_CASE(
    "a start/end range has the launches made while it was open, whenever their kernels start") {
  kernel_places made(100);
  made.open(1, 0, "step");
  made.add_start_end(100, 200, "request");
  made.add_start_end(150, 300, "request");  // at the same time
  made.add_start_end(180, 190, "reply");
  made.add(0, 10, {1, 0, 99});
  made.add(0, 20, {1, 0, 100});
  made.add(0, 40, {1, 0, 185});
  made.add(0, 80, {0, 0, 199});  // after one that was launched earlier
  made.add(0, 160, {0, 0, 299});
  made.add(0, 320, {0, 0, 300});
  made.add(0, 640, {0, 0, 0});  // not seen
  auto const ranges = made.ranges();
  auto const* const request = named(ranges, "request");
  REQUIRE(request != nullptr);
  CHECK(request->is_start_end);
  CHECK(request->total_ns == 20 + 40 + 80 + 160);
  CHECK(request->kernels[0].launches == 4);
  CHECK(named(ranges, "reply")->total_ns == 40);
  CHECK_FALSE(named(ranges, "step")->is_start_end);
  CHECK(named(ranges, "step")->total_ns == 70);
  CHECK(made.not_placed() == 0);
}

TEST_CASE("a start/end range opened later has only later launches") {
  kernel_places made(100);
  made.add_start_end(100, 900, "all");
  made.add(0, 1, {0, 0, 500});
  made.add_start_end(600, 700, "part");
  made.add(0, 1, {0, 0, 650});
  CHECK(named(made.ranges(), "part")->kernels[0].launches == 1);
  CHECK(named(made.ranges(), "all")->kernels[0].launches == 2);
}

TEST_CASE(
    "beyond the limit start/end ranges that end last are kept, and earlier launches have no "
    "place") {
  kernel_places made(100, 10);
  for (std::uint64_t i = 0; i < 1000; ++i) made.add_start_end(100 * i, 100 * i + 50, "request");
  made.add(0, 1, {0, 0, 99'920});
  CHECK(made.not_placed() == 0);
  CHECK(named(made.ranges(), "request")->kernels[0].launches == 1);
  made.add(0, 1, {0, 0, 20});
  CHECK(made.not_placed() == 1);
}

TEST_CASE("start/end ranges with a million names take bounded memory") {
  kernel_places made(100);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    made.add_start_end(10 * i, 10 * i + 10, "request " + std::to_string(i));
    made.add(0, 1, {0, 0, 10 * i + 1});
  }
  CHECK(made.ranges().size() == 100);
  CHECK(made.not_placed() == 10'000 - 100);
}

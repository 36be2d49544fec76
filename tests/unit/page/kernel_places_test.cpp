// SPDX-License-Identifier: Apache-2.0
#include "page/kernel_places.hpp"

#include "support/catch.hpp"

using gpuprof::page::kernel_place;
using gpuprof::page::kernel_places;

namespace {

kernel_place const* named(std::vector<kernel_place> const& places, std::string const& name) {
  for (auto const& one : places)
    if (one.name == name) return &one;
  return nullptr;
}

}  // namespace

TEST_CASE("a kernel was launched from all ranges around its launch, each name once") {
  kernel_places made(100);
  made.open(1, 0, "step");
  made.open(2, 1, "forward");
  made.open(3, 2, "step");  // again, inside
  made.open(4, 0, "step");
  made.add(0, 100, 3, 0);
  made.add(0, 10, 4, 0);
  made.add(1, 1, 2, 0);
  made.add(1, 1, 0, 0);  // outside
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

TEST_CASE("graphs are places, too") {
  kernel_places made(100);
  made.open(1, 0, "step");
  made.add(5, 10, 1, 2);
  made.add(6, 10, 0, 2);
  REQUIRE(made.graphs().size() == 1);
  CHECK(made.graphs()[0].name == "[CUDA graph 2]");
  CHECK(made.graphs()[0].kernels.size() == 2);
  CHECK(made.ranges()[0].kernels.size() == 1);
}

TEST_CASE("a million names of ranges take bounded memory, and what is not told is counted") {
  kernel_places made(100);
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    made.open(i, 0, "step " + std::to_string(i));
    made.add(0, 10, i, 0);
  }
  CHECK(made.ranges().size() < 100);
  CHECK(made.ranges().size() > 50);
  CHECK(made.not_placed() == 10'000 - made.ranges().size());
}

TEST_CASE("a range that was not seen is not placed") {
  kernel_places made(100);
  made.add(0, 10, 77, 0);
  CHECK(made.ranges().empty());
  CHECK(made.not_placed() == 1);
}

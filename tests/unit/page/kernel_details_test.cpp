// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_details.hpp"

#include "support/catch.hpp"

#include <numeric>

using gpuprof::captured_extent;
using gpuprof::captured_kernel;
using gpuprof::captured_range;
using gpuprof::host::page::kernel_details;
using gpuprof::host::page::line_details;

namespace {

char const* const gemm = "gemm(float*)";
char const* const relu = "relu(float*)";
char const* const rare = "rare()";

captured_kernel launch(char const* name, std::uint64_t start, std::uint64_t ns,
                       std::uint32_t blocks = 10) {
  captured_kernel kernel;
  kernel.name = name;
  kernel.start_ns = start;
  kernel.duration_ns = ns;
  kernel.grid = {blocks, 1, 1};
  kernel.block = {128, 1, 1};
  return kernel;
}

kernel_details watching_two(kernel_details::limits const& most = {}) {
  return kernel_details({{gemm, {}, {}, 100, 200}, {relu, {}, {}, 10, 10}},
                        {{gemm, captured_extent{20, 1, 1}, captured_extent{128, 1, 1}, 100, 200}},
                        most);
}

std::uint64_t launches_in(line_details const& line) {
  auto const shown = line.durations.shown();
  return std::accumulate(shown.counts.begin(), shown.counts.end(), shown.shorter + shown.longer);
}

}  // namespace

TEST_CASE("a kernel has all its launches, and a watched grid and block only its own") {
  auto made = watching_two();
  made.add(launch(gemm, 0, 100), {});
  made.add(launch(gemm, 1000, 200, 20), {});
  made.add(launch(relu, 2000, 10), {});
  made.add(launch(rare, 3000, 7), {});
  CHECK(launches_in(made.kernels()[0]) == 2);
  CHECK(launches_in(made.kernels()[1]) == 1);
  CHECK(launches_in(made.signatures()[0]) == 1);
  CHECK(made.signatures()[0].over_time.points()[0].start_ns == 1000);
  auto const geometries = made.geometries(0);
  REQUIRE(geometries.size() == 2);
  CHECK(geometries[0].geometry.grid.x == 20);  // more time
  CHECK(geometries[0].launches == 1);
  CHECK(geometries[0].total_ns == 200);
}

TEST_CASE("a launch slowed by reading is in no distribution, and sums use its replacement") {
  auto made = watching_two();
  captured_range range;
  range.id = 1;
  range.name = "step";
  made.open(range);
  auto slowed = launch(gemm, 0, 9'999);
  slowed.range = 1;
  made.add(slowed, 150);
  CHECK(launches_in(made.kernels()[0]) == 0);
  CHECK(made.kernels()[0].left_out == 1);
  CHECK(made.geometries(0)[0].total_ns == 150);
  REQUIRE(made.places().ranges().size() == 1);
  CHECK(made.places().ranges()[0].total_ns == 150);
}

TEST_CASE("kernels that are not watched can be neighbors") {
  auto made = watching_two();
  made.add(launch(rare, 0, 7), {});
  made.add(launch(gemm, 1000, 100), {});
  auto const around = made.surroundings();
  REQUIRE(around.size() == 2);
  REQUIRE(around[0].before.size() == 1);
  CHECK(made.names()[around[0].before[0].kernel] == rare);
}

TEST_CASE("equal names at different addresses are one kernel") {
  std::string const again = gemm;
  auto made = watching_two();
  made.add(launch(gemm, 0, 100), {});
  made.add(launch(again.c_str(), 1000, 100), {});
  CHECK(launches_in(made.kernels()[0]) == 2);
}

TEST_CASE("geometries of equal time have one order, whichever came first") {
  auto const blocks_of = [](std::vector<std::uint32_t> const& sizes) {
    auto made = watching_two();
    for (auto const size : sizes) {
      auto kernel = launch(gemm, 0, 100);
      kernel.block.x = size;
      made.add(kernel, {});
    }
    std::vector<std::uint32_t> found;
    for (auto const& one : made.geometries(0)) found.push_back(one.geometry.block.x);
    return found;
  };
  std::vector<std::uint32_t> const in_order{32, 64, 128, 256, 512};
  CHECK(blocks_of({512, 128, 32, 256, 64}) == in_order);
  CHECK(blocks_of({64, 256, 32, 128, 512}) == in_order);
}

TEST_CASE("kernels and geometries beyond a limit are not distinguished") {
  kernel_details::limits few;
  few.names = 8;
  auto made = watching_two(few);
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("kernel " + std::to_string(i));
  for (std::size_t i = 0; i < names.size(); ++i) made.add(launch(names[i].c_str(), 100 * i, 5), {});
  for (std::uint32_t i = 0; i < 100; ++i) made.add(launch(gemm, 20'000 + 500 * i, 100, i + 1), {});
  CHECK(made.names().size() <= 2 + 8 + 1);
  CHECK(made.geometries(0).size() <= 8);
  CHECK(launches_in(made.kernels()[0]) == 100);
  CHECK(launches_in(made.signatures()[0]) == 1);
}

TEST_CASE("start/end ranges hold no launches by thread") {
  auto made = watching_two();
  captured_range range;
  range.id = 1;
  range.name = "epoch";
  range.style = gpuprof::captured_range_style::start_end;
  made.open(range);
  made.add(launch(gemm, 0, 100), {});
  CHECK(made.places().ranges().empty());
  CHECK(made.places().not_placed() == 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "host/page/kernel_places.hpp"
#include "support/catch.hpp"

using gpuprof::host::page::kernel_neighbors;

TEST_CASE("neighbors are counted by stream, the most frequent first") {
  kernel_neighbors made(100);
  for (int step = 0; step < 10; ++step) {
    for (std::uint32_t kernel : {0u, 1u, 2u, 1u}) made.add(0, 1, 7, kernel);
    made.add(0, 1, 8, 3);  // on another stream beside them
  }
  auto const around = made.of_each(4, 5);
  REQUIRE(around[1].before.size() == 2);
  CHECK(around[1].before[0].kernel == 0);
  CHECK(around[1].before[0].times == 10);
  CHECK(around[1].before[1].kernel == 2);
  REQUIRE(around[1].after.size() == 2);
  CHECK(around[1].after[0].kernel == 2);
  CHECK(around[1].after[0].times == 10);
  CHECK(around[1].after[1].times == 9);  // the last step has no next
  REQUIRE(around[3].before.size() == 1);
  CHECK(around[3].before[0].kernel == 3);
  CHECK(around[3].before[0].times == 9);
}

TEST_CASE("the same stream number in another context or on another GPU is another stream") {
  kernel_neighbors made(100);
  made.add(0, 1, 7, 0);
  made.add(0, 2, 7, 1);
  made.add(1, 1, 7, 2);
  for (auto const& one : made.of_each(3, 5)) {
    CHECK(one.before.empty());
    CHECK(one.after.empty());
  }
}

TEST_CASE("only the most frequent neighbors are returned, for the requested kernels") {
  kernel_neighbors made(1000);
  for (std::uint32_t other = 1; other < 20; ++other)
    for (std::uint32_t times = 0; times < other; ++times) {
      made.add(0, 0, 0, 0);
      made.add(0, 0, 0, other);
    }
  auto const around = made.of_each(1, 3);
  REQUIRE(around.size() == 1);
  REQUIRE(around[0].after.size() == 3);
  CHECK(around[0].after[0].kernel == 19);
  CHECK(around[0].after[0].times == 19);
}

TEST_CASE("pairs beyond the limit are reported as not counted") {
  kernel_neighbors made(2);
  for (std::uint32_t kernel : {0u, 1u, 2u, 3u, 0u, 1u}) made.add(0, 0, 0, kernel);
  CHECK(made.not_counted() == 2);
  CHECK(made.of_each(4, 5)[1].before[0].times == 2);
}

// SPDX-License-Identifier: Apache-2.0
#include "base/ledger.hpp"

#include "support/catch.hpp"

using namespace gpuprof;

TEST_CASE("counts of several owners under one name add up, in the order of the first ones") {
  std::atomic<std::uint64_t> const of_threads{3};
  ledger all;
  all.add("lost.kernels", of_threads);
  all.add("seen.kernels", 10);
  all.add("lost.kernels", 4);
  all.add("lost.ranges", 0);  // nothing lost is told, too
  CHECK(all.take() ==
        named_counters{{"lost.kernels", 7}, {"seen.kernels", 10}, {"lost.ranges", 0}});
}

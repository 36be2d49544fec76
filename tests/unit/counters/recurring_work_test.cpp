// SPDX-License-Identifier: Apache-2.0
// When a program has begun to work steadily.
#include "guest/counters/recurring_work.hpp"

#include "support/catch.hpp"
#include "support/moments.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

/// From `begin_ms` on, some launches every 10 ms.
void work(recurring_work& seen, std::uint64_t begin_ms, std::uint64_t length_ms,
          std::uint64_t& launches, std::uint64_t each) {
  for (std::uint64_t passed = 0; passed < length_ms; passed += 10)
    seen.note((begin_ms + passed) * ms, launches += each);
}

}  // namespace

TEST_CASE("launches in each tenth of a second are steady work") {
  recurring_work seen;
  std::uint64_t launches = 0;
  work(seen, 1000, 110, launches, 1);
  CHECK(seen.lasted_ns() == 100 * ms);
  work(seen, 1110, 500, launches, 1);
  CHECK(seen.lasted_ns() == 600 * ms);
}

TEST_CASE("a tenth of a second without a launch begins anew") {
  recurring_work seen;
  std::uint64_t launches = 0;
  work(seen, 1000, 410, launches, 100);
  REQUIRE(seen.lasted_ns() == 400 * ms);
  work(seen, 1410, 200, launches, 0);
  CHECK(seen.lasted_ns() == 0);
  work(seen, 1610, 210, launches, 100);
  CHECK(seen.lasted_ns() == 200 * ms);
}

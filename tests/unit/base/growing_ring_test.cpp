// SPDX-License-Identifier: Apache-2.0
#include "base/growing_ring.hpp"

#include "support/catch.hpp"

#include <vector>

using namespace gpuprof;

namespace {

using ring = growing_ring<std::uint64_t>;

/// Writes one slot. False if there is no room.
bool write(ring& to, std::uint64_t value) {
  if (!to.reserve(1) && !to.grow(1)) return false;
  to.slot(0) = value;
  to.publish(1);
  return true;
}

std::uint64_t fill(ring& to) {
  std::uint64_t written = 0;
  while (write(to, written)) ++written;
  return written;
}

}  // namespace

TEST_CASE("a ring grows up to its limit, and what it held is read in order") {
  memory_budget budget(64u << 20);
  std::vector<std::uint64_t> first(128);
  ring slots(first, ring::modest_slots * 4, budget);
  CHECK(fill(slots) == ring::modest_slots * 4);
  CHECK_FALSE(slots.lacks_memory());  // more memory would not help
  std::uint64_t next = 0;
  slots.drain([&](std::uint64_t value) {
    REQUIRE(value == next++);
    return std::size_t{1};
  });
  CHECK(next == ring::modest_slots * 4);
  CHECK(write(slots, 0));
  slots.drain([](std::uint64_t) { return std::size_t{1}; });
  slots.shrink();
  CHECK(budget.used() == 0);
}

TEST_CASE("a large ring takes at most a quarter of the budget, and reports that it lacks memory") {
  constexpr std::size_t modest_bytes = ring::modest_slots * sizeof(std::uint64_t);
  memory_budget budget(8 * modest_bytes);
  std::vector<std::uint64_t> first(128);
  ring slots(first, ring::modest_slots * 16, budget);
  CHECK(fill(slots) < 2 * ring::modest_slots);  // all that it has had, none of it read
  CHECK(slots.lacks_memory());
  CHECK(budget.used() <= budget.limit() / 4);
}

TEST_CASE("a large ring counts as half full at the same fill level as a modest one") {
  memory_budget budget(64u << 20);
  std::vector<std::uint64_t> first(128);
  ring slots(first, ring::modest_slots * 4, budget);
  for (std::size_t i = 0; i < ring::modest_slots / 2; ++i) REQUIRE(write(slots, i));
  CHECK_FALSE(slots.half_full());
  REQUIRE(write(slots, 1));
  CHECK(slots.half_full());
}

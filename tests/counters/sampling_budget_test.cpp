// What sampling may spend of the time that passes.
#include "counters/sampling_budget.hpp"

#include "support/catch.hpp"

using namespace gpuprof;

namespace {
constexpr std::uint64_t second = 1'000'000'000;
}

TEST_CASE("a second may be spent at once, and after that a share of the time") {
  sampling_budget budget(1);
  budget.begin(5 * second);
  CHECK(budget.allows(5 * second));
  budget.spend(second - 1);
  CHECK(budget.allows(5 * second));
  CHECK_FALSE(budget.allows(5 * second, 1));
  budget.spend(1);
  CHECK_FALSE(budget.allows(5 * second));
  CHECK_FALSE(budget.allows(104 * second));
  CHECK(budget.allows(106 * second));  // 1 % of 101 s
  CHECK(budget.allows(106 * second, 10'000'000 - 1));
  CHECK_FALSE(budget.allows(106 * second, 10'000'000));
}

TEST_CASE("time between captures earns nothing") {
  sampling_budget budget(10);
  budget.spend(2 * second);
  budget.begin(second);
  budget.end(11 * second);
  CHECK_FALSE(budget.allows(1000 * second));
  budget.begin(2000 * second);
  CHECK_FALSE(budget.allows(2009 * second));
  CHECK(budget.allows(2011 * second));  // 10 s and 11 s
  budget.end(2011 * second);
  CHECK(budget.allows(9000 * second));
}

TEST_CASE("without a share there is no limit") {
  sampling_budget budget(0);
  budget.spend(1000 * second);
  CHECK(budget.allows(0));
  CHECK(budget.spent() == 1000 * second);
}

TEST_CASE("sampling has what launches leave, and half of it in any case") {
  sampling_budget budget(1);
  budget.begin(second);
  CHECK(budget.allows_sampling(second, sampling_budget::sampling_advance_ns));
  CHECK_FALSE(budget.allows_sampling(second, sampling_budget::sampling_advance_ns + 1));
  CHECK(budget.allows_sampling(101 * second, second));  // nothing was read around launches
  budget.spend(second);
  CHECK_FALSE(budget.allows_sampling(101 * second, second / 2 + 1));
  CHECK(budget.allows_sampling(101 * second, second / 2));
}

TEST_CASE("launches do not get what sampling has spent, but for the advance") {
  sampling_budget budget(1);
  budget.begin(second);
  budget.spend_on_sampling(2 * second);
  budget.spend(second - 1);
  CHECK(budget.allows(second));
  budget.spend(1);
  CHECK_FALSE(budget.allows(301 * second));  // 3 s earned, 2 and 1 spent
  CHECK(budget.allows(302 * second));
  CHECK(budget.spent() == 3 * second);
}

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

TEST_CASE("sampling costs a share of the time for which it is held, not of its windows alone") {
  CHECK(sampling_budget::price_ns(second) == second / 20);
  // Setting up, six windows with their pauses, giving back.
  constexpr auto window_and_pause = std::uint64_t{70'000'000};
  CHECK(sampling_budget::price_of_burst_ns(window_and_pause) ==
        sampling_budget::price_ns(200'000'000 + 6 * window_and_pause));
  CHECK(sampling_budget::price_of_window_ns(window_and_pause) ==
        sampling_budget::price_ns(50'000'000 + window_and_pause));
}

TEST_CASE("a short program has one burst of windows, and the next when all of it is earned") {
  constexpr auto window_and_pause = std::uint64_t{70'000'000};
  constexpr auto burst = sampling_budget::price_of_burst_ns(window_and_pause);
  sampling_budget budget(1);
  budget.begin(second);
  CHECK(budget.allows_sampling(second, burst));
  budget.spend_on_sampling(burst);
  CHECK_FALSE(
      budget.allows_sampling(2 * second, sampling_budget::price_of_window_ns(window_and_pause)));
  CHECK_FALSE(budget.allows_sampling(7 * second, burst));  // 60 ms
  CHECK(budget.allows_sampling(7 * second + second / 5, burst));
}

TEST_CASE("a budget as large as the price lets sampling go on") {
  constexpr auto window_and_pause = std::uint64_t{70'000'000};
  sampling_budget budget(5);
  budget.begin(second);
  for (auto held = second; held < 60 * second; held += window_and_pause) {
    REQUIRE(budget.allows_sampling(second + held,
                                   sampling_budget::price_of_window_ns(window_and_pause) -
                                       sampling_budget::price_ns(50'000'000)));
    budget.spend_on_sampling(sampling_budget::price_ns(window_and_pause));
  }
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

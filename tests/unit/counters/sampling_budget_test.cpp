// SPDX-License-Identifier: Apache-2.0
// What sampling may spend of the time that passes.
#include "guest/counters/sampling_budget.hpp"

#include "support/catch.hpp"
#include "support/moments.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

TEST_CASE(
    "a run of less than 20 s may spend the share, and later the one-time budget and the share") {
  constexpr auto once = sampling_budget::usual_once_ns;
  sampling_budget budget(1);
  budget.begin(5 * second);
  CHECK_FALSE(budget.allows(5 * second));
  CHECK(budget.left(6 * second) == 10'000'000);
  CHECK(budget.left(25 * second - 1) < 200'000'000);
  CHECK(budget.left(25 * second) == once + 200'000'000);
  CHECK(budget.left(30 * second) == once + 250'000'000);
  budget.spend(once);
  CHECK(budget.left(30 * second) == 250'000'000);
  budget.spend(second);
  CHECK_FALSE(budget.allows(104 * second));
  CHECK(budget.allows(106 * second));  // 1 % of 101 s
  CHECK(budget.left(106 * second) == 10'000'000);
  CHECK(budget.allows(106 * second, 10'000'000 - 1));
  CHECK_FALSE(budget.allows(106 * second, 10'000'000));
}

TEST_CASE("the user sets the one-time budget") {
  CHECK_FALSE([] {
    sampling_budget nothing(1, 0);
    nothing.begin(second);
    return nothing.allows(11 * second, 100'000'000);
  }());
  sampling_budget more(1, 2 * second);
  more.begin(second);
  CHECK(more.left(11 * second) == 100'000'000);
  CHECK(more.left(21 * second) == 1'200'000'000);  // six times the share
  CHECK(more.left(101 * second) == 3 * second);
}

TEST_CASE(
    "if the user asks why this run is slow the budget may be spent at any time, but no more of "
    "it") {
  constexpr auto once = 3 * second / 2;
  sampling_budget budget(1, once, {}, true);
  budget.begin(second);
  CHECK(budget.left(second) == once);
  budget.spend(once);
  CHECK_FALSE(budget.allows(second));
  CHECK(budget.left(101 * second) == second);
  // Of a job it is rank 0 that may.
  sampling_budget other(1, once, {3, 8}, true);
  other.begin(second);
  CHECK(other.left(second) == 0);
}

TEST_CASE("work in progress may exceed the budget a little, and not more") {
  sampling_budget budget(1);
  budget.begin(second);
  budget.spend(sampling_budget::usual_once_ns + 200'000'000 + sampling_budget::to_go_on_ns - 1);
  CHECK_FALSE(budget.allows(21 * second));
  CHECK(budget.may_go_on(21 * second));
  budget.spend(1);
  CHECK_FALSE(budget.may_go_on(21 * second));
  CHECK(budget.may_go_on(22 * second));  // earned
  CHECK(sampling_budget(0).may_go_on(0));
}

TEST_CASE("counters that took longer to set up than expected are still used") {
  constexpr std::uint64_t unexpected = 400'000'000;
  sampling_budget budget(1);
  budget.begin(second);
  budget.spend(sampling_budget::usual_once_ns + unexpected);
  CHECK_FALSE(budget.may_go_on(21 * second));  // it was not for setting up
  budget.note_once(sampling_budget::usual_once_ns + unexpected);
  CHECK(budget.may_go_on(21 * second));
  CHECK_FALSE(budget.allows(21 * second));  // nothing more is begun
  budget.spend(200'000'000 + sampling_budget::to_go_on_ns);
  CHECK_FALSE(budget.may_go_on(21 * second));
}

TEST_CASE("a larger one-time budget does not reduce what may be used of it") {
  sampling_budget budget(1, second);
  budget.begin(second);
  budget.spend(1'200'000'000);
  budget.note_once(1'200'000'000);
  CHECK(budget.may_go_on(21 * second));  // 1 s of it was granted by then
}

TEST_CASE("reading launches pays in runs of 20 s, or shorter ones with a greater budget") {
  auto const pays_after_s = [](double percent, bool at_any_time = false) {
    return sampling_budget(percent, 250'000'000, {}, at_any_time).reading_pays_after_ns() / second;
  };
  CHECK(pays_after_s(1) == 20);
  CHECK(pays_after_s(5) == 4);
  CHECK(pays_after_s(0) == 0);
  CHECK(pays_after_s(1, true) == 0);
  sampling_budget budget(1);
  budget.begin(second);
  CHECK_FALSE(budget.reading_pays(21 * second - 1));
  CHECK(budget.reading_pays(21 * second));
}

TEST_CASE("what was lost beyond what was counted limits what comes later") {
  sampling_budget budget(1);
  budget.begin(second);
  budget.spend_on_sampling(100'000'000);
  auto const left = budget.left(101 * second);
  budget.note_lost(90'000'000);
  CHECK(budget.left(101 * second) == left);
  budget.note_lost(400'000'000);
  CHECK(budget.left(101 * second) == left - 300'000'000);
  CHECK(budget.spent() == 100'000'000);
  CHECK(budget.allows_sampling(101 * second, 700'000'000));
  budget.note_lost(500'000'000);
  CHECK_FALSE(budget.allows_sampling(101 * second, 700'000'000));
  CHECK(budget.has_earned(101 * second));
  budget.note_lost(1'000'000'000);
  CHECK_FALSE(budget.has_earned(101 * second));
  sampling_budget of_rank(1, 0, {1, 8});  // it waits for others, too
  of_rank.begin(second);
  auto const before = of_rank.left(101 * second);
  of_rank.note_lost(10 * second);
  CHECK(of_rank.left(101 * second) == before);
}

TEST_CASE("one-time costs are counted separately") {
  sampling_budget budget(1);
  budget.spend(230);
  budget.note_once(200);
  budget.spend_on_sampling(1000);
  CHECK(budget.noted_once() == 200);
  CHECK(budget.spent() == 1230);
}

TEST_CASE("the one-time budget is not used for reading again") {
  sampling_budget budget(1);
  budget.begin(second);
  CHECK_FALSE(budget.has_earned(second));
  CHECK(budget.has_earned(2 * second));
  budget.spend(second);
  CHECK_FALSE(budget.has_earned(101 * second));
  CHECK(budget.has_earned(102 * second));
  CHECK(sampling_budget(0).has_earned(0));
}

TEST_CASE("time between captures earns nothing") {
  sampling_budget budget(10);
  budget.spend(sampling_budget::usual_once_ns + 2 * second);
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

TEST_CASE("sampling gets the budget that launches leave, but at least half") {
  constexpr auto once = sampling_budget::sampling_once_ns;
  sampling_budget budget(1);
  budget.begin(second);
  CHECK(budget.allows_sampling(second, once));
  CHECK_FALSE(budget.allows_sampling(second, once + 1));
  CHECK(budget.allows_sampling(101 * second, once + second));  // no launch was read
  // What is spent once on launches is not taken from sampling.
  budget.spend(sampling_budget::usual_once_ns);
  CHECK(budget.allows_sampling(101 * second, once + second));
  budget.spend(second);
  CHECK_FALSE(budget.allows_sampling(101 * second, once + second / 2 + 1));
  CHECK(budget.allows_sampling(101 * second, once + second / 2));
}

TEST_CASE("sampling costs a share of the time it is held, not only of its windows") {
  CHECK(sampling_budget::price_ns(second) == second / 20);
  // Setting up, six windows with their pauses, releasing.
  constexpr auto window_and_pause = std::uint64_t{70'000'000};
  CHECK(sampling_budget::price_of_burst_ns(window_and_pause) ==
        sampling_budget::price_ns(200'000'000 + 6 * window_and_pause));
  CHECK(sampling_budget::price_of_window_ns(window_and_pause) ==
        sampling_budget::price_ns(50'000'000 + window_and_pause));
}

TEST_CASE("a short program has the bursts of the one-time budget, and more when they are earned") {
  constexpr auto window_and_pause = std::uint64_t{70'000'000};
  constexpr auto burst = sampling_budget::price_of_burst_ns(window_and_pause);
  sampling_budget budget(1);
  budget.begin(second);
  auto bursts = std::uint64_t{0};
  for (; budget.allows_sampling(second, burst); ++bursts) budget.spend_on_sampling(burst);
  CHECK(bursts == sampling_budget::sampling_once_ns / burst);
  auto const lacking = (bursts + 1) * burst - sampling_budget::sampling_once_ns;
  CHECK_FALSE(budget.allows_sampling(second + 99 * lacking, burst));
  CHECK(budget.allows_sampling(second + 101 * lacking, burst));
}

TEST_CASE("a budget as large as the price keeps sampling running") {
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

TEST_CASE("launches do not get the budget that sampling has spent, except for its one-time part") {
  sampling_budget budget(1);
  budget.begin(second);
  budget.spend_on_sampling(sampling_budget::sampling_once_ns);
  CHECK(budget.left(21 * second) == sampling_budget::usual_once_ns + second / 5);
  budget.spend_on_sampling(second);
  CHECK_FALSE(budget.allows(21 * second));
  CHECK(budget.left(102 * second) == sampling_budget::usual_once_ns + second / 100);
  CHECK(budget.spent() == sampling_budget::sampling_once_ns + second);
  CHECK(budget.spent_on_sampling() == budget.spent());
}

TEST_CASE("the cost of sampling follows the activity of the GPU, but is at least a fifth") {
  constexpr std::uint64_t held = 1'000'000'000;
  CHECK(sampling_budget::price_ns(held, 1) == sampling_budget::price_ns(held));
  CHECK(sampling_budget::price_ns(held, 0.5) == sampling_budget::price_ns(held) / 2);
  CHECK(sampling_budget::price_ns(held, 0) == sampling_budget::price_ns(held) / 5);
}

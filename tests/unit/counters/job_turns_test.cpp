// SPDX-License-Identifier: Apache-2.0
// When the ranks of a job read launches, and when they sample time.
#include "guest/counters/sampling_budget.hpp"
#include "support/catch.hpp"
#include "support/moments.hpp"

#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {
constexpr std::uint64_t today = 1'795'000'000 * second;
constexpr std::uint64_t every = 7 * second;
}  // namespace

TEST_CASE("a single process reads and samples at any time") {
  constexpr job_turns alone({}, every);
  for (std::uint64_t moment = today; moment < today + 20 * second; moment += 7 * ms) {
    CHECK(alone.is_our_turn(moment));
    CHECK(alone.may_begin_to_read(moment));
    CHECK(alone.may_begin_burst(moment));
  }
}

TEST_CASE("one rank reads at a time, all ranks do, and the first one has every other turn") {
  for (std::uint32_t const ranks : {2u, 3u, 8u, 1000u}) {
    std::vector<unsigned> turns(ranks);
    auto const all = 2 * std::uint64_t{ranks - 1};
    for (std::uint64_t turn = 0; turn < all; ++turn) {
      auto const moment = today + turn * second + 999 * ms;
      unsigned readers = 0;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        job_turns const of({rank, ranks}, every);
        if (!of.is_our_turn(moment)) continue;
        ++readers;
        ++turns[rank];
        CHECK(of.may_begin_to_read(today + turn * second));
        CHECK_FALSE(of.may_begin_to_read(moment));  // too late in its turn
      }
      CHECK(readers == 1);
    }
    CHECK(turns[0] == ranks - 1);
    for (std::uint32_t rank = 1; rank < ranks; ++rank) CHECK(turns[rank] == 1);
  }
}

TEST_CASE("bursts begin at the same moments in all ranks") {
  constexpr job_turns first({0, 8}, every), last({7, 8}, every);
  unsigned moments = 0;
  for (std::uint64_t moment = today; moment < today + 70 * second; moment += 10 * ms) {
    CHECK(first.may_begin_burst(moment) == last.may_begin_burst(moment));
    moments += first.may_begin_burst(moment);
  }
  CHECK(moments == 10 * 30);  // 300 ms of every 7 s
}

TEST_CASE("a rank that had a burst at one moment can afford the next") {
  constexpr std::uint64_t window_and_pause = 70 * ms;
  auto const period = sampling_budget::burst_earned_in_ns(1, window_and_pause);
  CHECK(period == 7 * second);  // 31 ms at half a percent
  auto const price = sampling_budget::price_of_burst_ns(window_and_pause);
  sampling_budget budget(1, sampling_budget::usual_once_ns, {3, 8});
  budget.begin(second);
  budget.spend_on_sampling(sampling_budget::sampling_once_ns);
  CHECK_FALSE(budget.allows_sampling(second + period / 2, price));
  CHECK(budget.allows_sampling(second + period, price));
  budget.spend_on_sampling(price);
  CHECK_FALSE(budget.allows_sampling(second + period, price));
  CHECK(budget.allows_sampling(second + 2 * period, price));
  CHECK(sampling_budget::burst_earned_in_ns(0, window_and_pause) == 0);
}

TEST_CASE("the budget applies to the whole job") {
  sampling_budget first(1, sampling_budget::usual_once_ns, {0, 4});
  sampling_budget other(1, sampling_budget::usual_once_ns, {1, 4});
  first.begin(second), other.begin(second);
  auto const later = 101 * second;  // a second is earned
  CHECK(first.left(later) == sampling_budget::usual_once_ns + 125 * ms);
  CHECK(other.left(later) == 125 * ms);
  // Half is for sampling, whatever is read: all ranks do it at once.
  other.spend(125 * ms);
  CHECK_FALSE(other.allows(later));
  CHECK_FALSE(other.has_earned(later));
  CHECK(other.allows_sampling(later, 600 * ms));
  CHECK_FALSE(other.allows_sampling(later, 601 * ms));
  other.spend_on_sampling(600 * ms);
  CHECK(other.left(later + 8 * second) == 10 * ms);
}

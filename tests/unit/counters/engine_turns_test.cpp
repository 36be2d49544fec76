// SPDX-License-Identifier: Apache-2.0
// Who has the counters, moment by moment.
#include "guest/counters/engine_turns.hpp"

#include "guest/counters/sampling_budget.hpp"
#include "support/catch.hpp"
#include "support/moments.hpp"

#include <algorithm>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;
using enum counter_turn;

namespace {

counter_needs at(std::uint64_t now_ms, bool want, bool window = true) {
  return {.now_ns = now_ms * ms,
          .launches_want = want,
          .launches_affordable = true,
          .window_affordable = window,
          .must_not_switch = false};
}

/// Time is sampled from 1000 ms on until launches may be read; when their turn began, in ms.
std::uint64_t sample_first(engine_turns& turns, bool is_enough = true) {
  for (std::uint64_t moment = 1000; moment < 60'000; moment += 10) {
    auto needs = at(moment, true);
    needs.sampled_enough = is_enough;
    if (turns.next(needs) == launches) return moment;
  }
  return 0;
}

}  // namespace

TEST_CASE("sampling comes first, half a second of windows and pauses, and then launches are read") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, true)) == window);
  CHECK(turns.next(at(1049, true)) == window);
  CHECK(turns.next(at(1050, true)) == between_windows);
  CHECK(turns.next(at(1069, true)) == between_windows);
  CHECK(turns.next(at(1070, true)) == window);
  CHECK(turns.next(at(1120, true)) == between_windows);
  engine_turns others({});
  auto const begun = sample_first(others);
  // 500 ms, and the window under way.
  CHECK(begun >= 1500);
  CHECK(begun <= 1570);
}

TEST_CASE("sampling continues while it is not enough, 1.5 seconds at most") {
  engine_turns turns({});
  auto const begun = sample_first(turns, false);
  CHECK(begun >= 2500);
  CHECK(begun <= 2570);
}

TEST_CASE("if launches come first they are read as soon as they recur, and sampling follows") {
  engine_turns turns({.launches_first = true});
  CHECK(turns.next(at(1000, false)) == nobody);
  CHECK(turns.next(at(1100, true)) == launches);
  CHECK(turns.next(at(1500, true)) == launches);
  CHECK(turns.next(at(1510, false)) == launches);
  CHECK(turns.next(at(1720, false)) == window);
  CHECK(turns.next(at(1770, false)) == between_windows);
  // One kind more has come that recurs.
  CHECK(turns.next(at(1780, true)) == launches);
}

TEST_CASE("if no launch recurs, or none can be afforded, sampling still runs") {
  engine_turns turns({.launches_first = true});
  CHECK(turns.next(at(1000, false, false)) == nobody);  // nothing was launched yet
  CHECK(turns.next(at(9000, false)) == nobody);
  CHECK(turns.next(at(9199, false)) == nobody);
  CHECK(turns.next(at(9201, false)) == window);
  engine_turns poor({.launches_first = true});
  auto needs = at(1000, true);
  needs.launches_affordable = false;
  CHECK(poor.next(needs) == nobody);
  needs.now_ns = 1201 * ms;
  CHECK(poor.next(needs) == window);
  engine_turns alone({.launches = false, .launches_first = true});
  CHECK(alone.next(at(1000, true)) == window);
}

TEST_CASE("in a run of two seconds launches are read only if spending is allowed at any time") {
  auto const reads = [](bool at_any_time) {
    constexpr std::uint64_t price = sampling_budget::usual_once_ns;
    sampling_budget budget(1, 1'500 * ms, {}, at_any_time);
    budget.begin(1000 * ms);
    engine_turns turns({});
    for (std::uint64_t moment = 1000; moment < 3000; moment += 10) {
      auto needs = at(moment, true);
      needs.launches_affordable = budget.allows(needs.now_ns, price);
      if (turns.next(needs) == launches) return moment - 1000;
    }
    return std::uint64_t{0};
  };
  CHECK(reads(true) >= 500);
  CHECK(reads(true) <= 570);
  CHECK(reads(false) == 0);
}

TEST_CASE("what others of the profiler spend is not earned, up to half of the share") {
  sampling_budget budget(1, 0);
  budget.begin(1000 * ms);
  constexpr std::uint64_t moment = 101'000 * ms;  // after 100 s, of which 1 % is 1000 ms
  CHECK(budget.left(moment) == 1000 * ms);
  budget.note_others(300 * ms);
  CHECK(budget.left(moment) == 700 * ms);
  CHECK(budget.spent() == 0);
  budget.note_others(5000 * ms);
  CHECK(budget.left(moment) == 500 * ms);
}

TEST_CASE("if windows cannot be afforded launches do not wait for them") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, true, false)) == launches);
  engine_turns interrupted({});
  CHECK(interrupted.next(at(1000, true)) == window);
  CHECK(interrupted.next(at(1050, true, false)) == launches);
}

TEST_CASE("launches that need nothing for a while make room for a window") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  CHECK(turns.next(at(begun + 100, false)) == launches);
  CHECK(turns.next(at(begun + 299, false)) == launches);
  CHECK(turns.next(at(begun + 300, false)) == window);
}

TEST_CASE("a pause between two launches does not end their turn") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  CHECK(turns.next(at(begun + 150, false)) == launches);
  CHECK(turns.next(at(begun + 300, true)) == launches);
  CHECK(turns.next(at(begun + 450, false)) == launches);
  CHECK(turns.next(at(begun + 600, false)) == launches);
  CHECK(turns.next(at(begun + 650, false)) == window);
}

TEST_CASE("a reading in progress is finished first, even beyond the budget, but not forever") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  auto needs = at(begun, true);
  needs.in_midst = true;
  needs.launches_affordable = false;
  for (auto moment = begun; moment < begun + 5000; moment += 100) {
    needs.now_ns = moment * ms;
    REQUIRE(turns.next(needs) == launches);
  }
  needs.now_ns = (begun + 5000) * ms;
  needs.launches_affordable = true;
  CHECK(turns.next(needs) == window);
}

TEST_CASE("launches that always need more lose the counters after two seconds") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  CHECK(turns.next(at(begun + 1999, true)) == launches);
  CHECK(turns.next(at(begun + 2000, true)) == window);
  CHECK(turns.next(at(begun + 2049, true)) == window);
  CHECK(turns.next(at(begun + 2050, true)) == launches);
}

TEST_CASE("launches keep the counters while they need readings and no window can be afforded") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, true, false)) == launches);
  CHECK(turns.next(at(9000, true, false)) == launches);
  CHECK(turns.next(at(9300, false, false)) == launches);
  CHECK(turns.next(at(9600, false, false)) == nobody);
  CHECK(turns.next(at(9700, true, false)) == launches);
}

TEST_CASE("a reading that is costly to stop is kept until a window can be afforded") {
  engine_turns turns({});
  auto needs = at(1000, true, false);
  CHECK(turns.next(needs) == launches);
  needs.launches_want = false;
  needs.is_costly_to_stop = true;
  for (std::uint64_t const moment : {1100u, 1400u, 9000u}) {
    needs.now_ns = moment * ms;
    CHECK(turns.next(needs) == launches);
  }
  needs.window_affordable = true;
  CHECK(turns.next(needs) == window);
}

TEST_CASE("where windows are few, each pause of a burst is twice as long as the one before") {
  engine_turns turns({.window_ns = 10 * ms});
  std::vector<std::uint64_t> begins;
  for (std::uint64_t moment = 1000; begins.size() < 7; ++moment) {
    REQUIRE(moment < 10'000);
    auto needs = at(moment, false);
    needs.windows_are_few = true;
    auto const before = turns.current();
    if (turns.next(needs) == window && before != window) begins.push_back(moment);
  }
  for (std::size_t i = 1; i < begins.size(); ++i) {
    auto const pause = begins[i] - begins[i - 1] - 10;
    auto const mean = std::uint64_t{20} << std::min<std::size_t>(i, 4);
    CHECK(pause + 8 >= mean);
    CHECK(pause <= mean + 8);
  }
  // The next burst begins with short pauses again.
  auto needs = at(20'000, false, false);
  REQUIRE(turns.next(needs) == nobody);
  needs = at(30'000, false);
  needs.windows_are_few = true;
  REQUIRE(turns.next(needs) == window);
  needs.now_ns = 30'010 * ms;
  REQUIRE(turns.next(needs) == between_windows);
  CHECK(turns.pause_left_ns(needs.now_ns) <= 48 * ms);
}

TEST_CASE("a window is as long as the others if its setup took longer than a window") {
  engine_turns turns({.window_ns = 10 * ms});
  REQUIRE(turns.next(at(1000, false)) == window);
  turns.window_began(1250 * ms);
  CHECK(turns.next(at(1259, false)) == window);
  CHECK(turns.window_left_ns(1259 * ms) == 1 * ms);
  CHECK(turns.next(at(1260, false)) == between_windows);
}

TEST_CASE("windows follow each other after pauses, as long as the budget lasts") {
  engine_turns turns({.launches = false});
  CHECK(turns.next(at(1000, true)) == window);
  CHECK(turns.next(at(1049, true)) == window);
  CHECK(turns.next(at(1050, true)) == between_windows);
  CHECK(turns.holds_sampling());
  CHECK(turns.next(at(1069, true)) == between_windows);
  CHECK(turns.next(at(1070, true)) == window);
  CHECK(turns.next(at(1120, true)) == between_windows);
  CHECK(turns.next(at(1121, true, false)) == nobody);
  CHECK_FALSE(turns.holds_sampling());
}

TEST_CASE("a window begins when the work before it is recorded as the window needs it") {
  engine_turns turns({.launches = false});
  REQUIRE(turns.next(at(1000, false)) == window);
  REQUIRE(turns.next(at(1050, false)) == between_windows);
  auto needs = at(1080, false);
  needs.is_prepared = false;
  CHECK(turns.next(needs) == between_windows);
  CHECK(turns.next(at(1081, false)) == window);
}

TEST_CASE("if the next window cannot be afforded the counters are free") {
  engine_turns turns({.launches = false});
  CHECK(turns.next(at(1000, true)) == window);
  CHECK(turns.next(at(1050, true, false)) == nobody);
  CHECK(turns.next(at(1200, true, false)) == nobody);
  CHECK(turns.next(at(1201, true)) == window);
}

TEST_CASE("launches that need readings again do not wait for the next window") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  CHECK(turns.next(at(begun + 100, false)) == launches);
  CHECK(turns.next(at(begun + 300, false)) == window);
  CHECK(turns.next(at(begun + 350, false)) == between_windows);
  CHECK(turns.next(at(begun + 355, true)) == launches);
}

TEST_CASE("sampling stays set up while a stream is being captured, but not for long") {
  engine_turns turns({.launches = false});
  CHECK(turns.next(at(1000, false)) == window);
  CHECK(turns.next(at(1050, false)) == between_windows);
  auto needs = at(1100, false);
  needs.must_not_switch = true;
  CHECK(turns.next(needs) == between_windows);
  needs.now_ns = 2049 * ms;
  CHECK(turns.next(needs) == between_windows);
  needs.now_ns = 2050 * ms;
  CHECK(turns.next(needs) == nobody);
}

TEST_CASE("a window that cannot begin is put off, and sampling stays set up") {
  engine_turns turns({.launches = false});
  CHECK(turns.next(at(1000, false)) == window);
  turns.put_off(1001 * ms, between_windows);
  CHECK(turns.holds_sampling());
  CHECK(turns.next(at(1020, false)) == between_windows);
  CHECK(turns.next(at(1021, false)) == window);
}

TEST_CASE("a window that cannot begin leaves the counters to launches that have them") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  CHECK(turns.next(at(begun + 2000, true)) == window);
  turns.put_off((begun + 2001) * ms, launches);
  CHECK_FALSE(turns.holds_sampling());
  CHECK(turns.next(at(begun + 2002, true)) == launches);
}

TEST_CASE("without windows launches always keep the counters") {
  engine_turns turns({.windows = false});
  CHECK(turns.next(at(1000, false)) == launches);
  CHECK(turns.next(at(9000, false)) == launches);
}

TEST_CASE("launches beyond the budget make room for windows within the budget") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  auto needs = at(begun + 10, true);
  needs.launches_affordable = false;
  CHECK(turns.next(needs) == launches);
  needs.now_ns += 200 * ms;
  CHECK(turns.next(needs) == window);
  needs.now_ns += 50 * ms;
  CHECK(turns.next(needs) == between_windows);
  needs.now_ns += 20 * ms;
  CHECK(turns.next(needs) == window);
}

TEST_CASE("if reading is impossible only sampling is used") {
  engine_turns turns({});
  turns.forbid_launches();
  CHECK(sample_first(turns) == 0);
  CHECK(turns.holds_sampling());
}

TEST_CASE("engines are not switched during a stream capture, but a window still ends in time") {
  engine_turns turns({});
  auto needs = at(1000, false);
  needs.must_not_switch = true;
  CHECK(turns.next(needs) == nobody);
  needs.must_not_switch = false;
  CHECK(turns.next(needs) == window);
  needs.must_not_switch = true;
  needs.now_ns += 60 * ms;
  CHECK(turns.next(needs) == window);
  needs.now_ns += 1000 * ms;
  CHECK(turns.next(needs) != window);
}

TEST_CASE("after a refusal the counters are free, and the engine is tried again") {
  engine_turns turns({.launches = false});
  CHECK(turns.next(at(1000, false)) == window);
  turns.refuse();
  CHECK(turns.current() == nobody);
  CHECK_FALSE(turns.holds_sampling());
  CHECK(turns.next(at(1010, false)) == window);
}

TEST_CASE("in a job launches are released when another rank has its turn") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  REQUIRE(begun != 0);
  auto needs = at(begun + 10, true);
  CHECK(turns.next(needs) == launches);
  needs.is_our_turn = false;
  CHECK(turns.next(needs) == window);
  engine_turns reading({});
  auto const since = sample_first(reading);
  needs = at(since + 10, true);
  needs.is_our_turn = false;
  needs.in_midst = true;  // what is under way is not lost
  CHECK(reading.next(needs) == launches);
}

TEST_CASE("in a job bursts begin at the moments of all ranks, except for the first windows") {
  engine_turns turns({.launches = false});
  auto not_now = at(1000, false);
  not_now.is_burst_moment = false;
  CHECK(turns.next(not_now) == window);
  std::uint64_t moment = 1000;
  for (; moment < 1600; moment += 10) {
    not_now.now_ns = moment * ms;
    (void)turns.next(not_now);
  }
  CHECK(turns.holds_sampling());
  auto const spent = at(1700, false, false);
  CHECK(turns.next(spent) == nobody);
  not_now.now_ns = 1800 * ms;
  CHECK(turns.next(not_now) == nobody);
  CHECK(turns.next(at(1900, false)) == window);
}

TEST_CASE("in a job sampling also continues after a pause without work until it is enough") {
  engine_turns turns({.launches = false});
  for (std::uint64_t moment = 1000; moment < 1800; moment += 10)
    (void)turns.next(at(moment, false));
  CHECK(turns.next(at(1900, false, false)) == nobody);
  auto works_again = at(5000, false);
  works_again.is_burst_moment = works_again.sampled_enough = false;
  CHECK(turns.next(works_again) == window);
}

TEST_CASE("in a job reading is not followed by a burst that the other ranks do not have") {
  engine_turns turns({});
  auto const begun = sample_first(turns);
  auto needs = at(begun + 10, false);
  CHECK(turns.next(needs) == launches);
  needs.now_ns += 300 * ms;
  needs.is_burst_moment = false;
  CHECK(turns.next(needs) == nobody);
  needs.is_burst_moment = true;
  CHECK(turns.next(needs) == window);
}

TEST_CASE("windows meet all parts of a step, however long the step is") {
  constexpr std::uint64_t windows = 48;
  for (std::uint64_t const step_ms : {35u, 50u, 70u, 140u, 210u}) {
    INFO(step_ms);
    std::vector<bool> is_seen(step_ms);
    engine_turns turns({.launches = false});
    std::uint64_t seen = 0, moment = 1000;
    for (auto before = nobody; seen < windows; ++moment) {
      auto const now_has = turns.next(at(moment, false));
      if (now_has == window) is_seen[moment % step_ms] = true;
      seen += now_has == window && before != window;
      before = now_has;
    }
    CHECK(std::count(is_seen.begin(), is_seen.end(), true) == static_cast<long>(step_ms));
    // On average a window of 50 ms and a pause of 20.
    CHECK((moment - 1000) / windows >= 68);
    CHECK((moment - 1000) / windows <= 71);
  }
}

// Who has the counters, moment by moment.
#include "counters/engine_turns.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using enum counter_turn;

namespace {

constexpr std::uint64_t ms = 1'000'000;

counter_needs at(std::uint64_t now_ms, bool want, bool window = true) {
  return {.now_ns = now_ms * ms,
          .launches_want = want,
          .launches_affordable = true,
          .window_affordable = window,
          .must_not_switch = false};
}

}  // namespace

TEST_CASE("launches go first, and a window follows when they have wanted nothing for a while") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, true)) == launches);
  CHECK(turns.next(at(1100, false)) == launches);
  CHECK(turns.next(at(1299, false)) == launches);
  CHECK(turns.next(at(1300, false)) == window);
}

TEST_CASE("a pause between two launches is no end of their turn") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, true)) == launches);
  CHECK(turns.next(at(1150, false)) == launches);
  CHECK(turns.next(at(1300, true)) == launches);
  CHECK(turns.next(at(1450, false)) == launches);
  CHECK(turns.next(at(1600, false)) == launches);
  CHECK(turns.next(at(1650, false)) == window);
}

TEST_CASE("a program that does something else for a while keeps its turn, but not for ever") {
  auto const idle = [](std::uint64_t now_ms) {
    auto needs = at(now_ms, false);
    needs.launches_come = false;
    return needs;
  };
  engine_turns turns({});
  CHECK(turns.next(at(1000, true)) == launches);
  CHECK(turns.next(idle(1005)) == launches);
  CHECK(turns.next(idle(2500)) == launches);
  CHECK(turns.next(at(2600, false)) == launches);  // it goes on, with kinds that were read
  CHECK(turns.next(at(2690, true)) == launches);   // and with others
  CHECK(turns.next(at(2700, false)) == launches);
  CHECK(turns.next(idle(5699)) == launches);
  CHECK(turns.next(idle(5700)) == window);
}

TEST_CASE("launches that come now and then and want nothing make room") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, true)) == launches);
  auto now = std::uint64_t{1000};
  while (turns.next(at(now += 30, false)) == launches) {
    auto needs = at(now + 5, false);
    needs.launches_come = false;
    REQUIRE(turns.next(needs) == launches);
  }
  CHECK(now == 1240);
}

TEST_CASE("a reading that has begun is finished first, also beyond the budget, but not for ever") {
  engine_turns turns({});
  counter_needs needs{
      .launches_want = true, .launches_affordable = true, .window_affordable = true};
  CHECK(turns.next(needs) == counter_turn::launches);
  needs.in_midst = true;
  needs.launches_affordable = false;
  for (needs.now_ns = 0; needs.now_ns < 14'900'000'000; needs.now_ns += 100'000'000)
    REQUIRE(turns.next(needs) == counter_turn::launches);
  auto over = needs;
  over.in_midst = false;
  over.launches_affordable = true;
  CHECK(engine_turns(turns).next(over) == counter_turn::window);
  needs.now_ns = 15'000'000'000;
  needs.launches_affordable = true;
  CHECK(turns.next(needs) == counter_turn::window);
}

TEST_CASE("launches that never have enough lose the counters after two seconds") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, true)) == launches);
  CHECK(turns.next(at(2999, true)) == launches);
  CHECK(turns.next(at(3000, true)) == window);
  CHECK(turns.next(at(3049, true)) == window);
  CHECK(turns.next(at(3050, true)) == launches);
}

TEST_CASE("window follows window after a pause, as long as the budget lasts") {
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

TEST_CASE("when the next window cannot be afforded nobody has the counters") {
  engine_turns turns({.launches = false});
  CHECK(turns.next(at(1000, true)) == window);
  CHECK(turns.next(at(1050, true, false)) == nobody);
  CHECK(turns.next(at(1200, true, false)) == nobody);
  CHECK(turns.next(at(1201, true)) == window);
}

TEST_CASE("launches that want something do not wait for the next window") {
  engine_turns turns({});
  CHECK(turns.next(at(1000, false)) == window);
  CHECK(turns.next(at(1050, false)) == between_windows);
  CHECK(turns.next(at(1055, true)) == launches);
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
  turns.put_off(1001 * ms);
  CHECK(turns.holds_sampling());
  CHECK(turns.next(at(1020, false)) == between_windows);
  CHECK(turns.next(at(1021, false)) == window);
}

TEST_CASE("without windows launches keep the counters") {
  engine_turns turns({.windows = false});
  CHECK(turns.next(at(1000, false)) == launches);
  CHECK(turns.next(at(9000, false)) == launches);
}

TEST_CASE("launches that the budget forbids make room for windows that it allows") {
  engine_turns turns({});
  auto needs = at(1000, true);
  CHECK(turns.next(needs) == launches);
  needs.launches_affordable = false;
  CHECK(turns.next(needs) == launches);
  needs.now_ns += 200 * ms;
  CHECK(turns.next(needs) == window);
  needs.now_ns += 50 * ms;
  CHECK(turns.next(needs) == between_windows);
  needs.now_ns += 20 * ms;
  CHECK(turns.next(needs) == window);
}

TEST_CASE("nothing is switched while a stream is being captured, but a window ends some time") {
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
  CHECK(turns.next(needs) == nobody);
}

TEST_CASE("who is refused leaves the counters to nobody, and is asked again") {
  engine_turns turns({.launches = false});
  CHECK(turns.next(at(1000, false)) == window);
  turns.refuse();
  CHECK(turns.current() == nobody);
  turns.forbid_windows();
  CHECK(turns.next(at(1000, false)) == nobody);
}

// SPDX-License-Identifier: Apache-2.0
// Who waits at the gate of launches, for how long, and who goes on by itself.
#include "guest/counters/launches/work_gate.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <latch>
#include <optional>
#include <random>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

// For what happens at once, but on a loaded machine.
constexpr std::uint64_t soon_ns = 60'000'000'000;

/// Waits without patience of its own: what it waits for comes, or the test hangs.
void wait_until(std::function<bool()> const& holds) {
  while (!holds()) std::this_thread::yield();
}

/// A call of the program, on a thread of its own: it enters, and leaves when it is told.
class caller {
 public:
  explicit caller(work_gate& gate, gate_call const& what = {}) {
    thread_ = std::jthread([this, &gate, what] {
      is_read_ = gate.enter(what);
      is_inside_ = true;
      wait_until([this] { return may_leave_.load(); });
      is_read_ ? gate.leave_read(correlation_id{41}, false) : gate.leave();
      is_over_ = true;
    });
  }
  ~caller() { may_leave_ = true; }
  caller(caller const&) = delete;
  caller& operator=(caller const&) = delete;

  bool is_inside() const { return is_inside_; }
  bool is_read() const { return is_read_; }
  bool is_over() const { return is_over_; }
  void wait_until_inside() const {
    wait_until([this] { return is_inside(); });
  }
  void leave() { may_leave_ = true; }
  void wait_until_over() const {
    wait_until([this] { return is_over(); });
  }

 private:
  std::atomic<bool> is_inside_{false}, is_read_{false}, may_leave_{false}, is_over_{false};
  std::jthread thread_;
};

/// A ticket that nobody has any more was that of an impatient call: the keeper goes on to the next.
work_gate::visitor admitted(work_gate& gate, bool is_read) {
  for (;;) {
    auto const one = gate.next(soon_ns);
    REQUIRE(one);
    if (gate.admit(one->ticket, is_read)) return *one;
  }
}

/// Calls lose no patience while it lives, however slow the machine.
using without_impatience = work_gate::switching;

}  // namespace

TEST_CASE("the time during which calls wait is counted once, however many wait") {
  constexpr std::uint64_t wait_ns = 5'000'000;
  work_gate gate;
  CHECK(gate.held_ns() == 0);
  auto const before = monotonic_ns();
  gate.shut();
  {
    std::deque<caller> all;
    without_impatience const now(gate);
    for (int i = 0; i < 6; ++i) all.emplace_back(gate);
    REQUIRE(gate.next(soon_ns));
    auto const since = monotonic_ns();
    wait_until([&] { return monotonic_ns() - since >= wait_ns; });
    CHECK(gate.held_ns() >= wait_ns);  // that they still wait counts
    gate.open();
    for (auto& one : all) one.leave();
  }
  auto const held = gate.held_ns();
  CHECK(held <= monotonic_ns() - before);
  CHECK(held >= wait_ns);
  CHECK(gate.held_ns() == held);
  auto const holds = gate.take_holds();
  REQUIRE(holds.size() == 1);
  CHECK(holds[0].duration.value == static_cast<std::int64_t>(held));
  CHECK(holds[0].start <= now());
  CHECK((now() - holds[0].start).value >= static_cast<std::int64_t>(held));
  CHECK(gate.take_holds().empty());
}

TEST_CASE("an open gate lets calls pass at once") {
  work_gate gate;
  CHECK_FALSE(gate.enter({}));
  CHECK_FALSE(gate.enter({.is_wanted = true}));
  gate.leave();
  gate.leave();
  CHECK(gate.hold());
  CHECK(gate.take_waited_ns() == 0);
  CHECK(gate.impatient() == 0);
}

TEST_CASE("a shut gate holds a call until it is admitted") {
  work_gate gate;
  gate.shut();
  without_impatience const now(gate);
  int signature = 0;
  gate_call const what{.context = nullptr,
                       .signature = reinterpret_cast<launch_signature*>(&signature),
                       .stream = reinterpret_cast<CUstream>(std::uintptr_t{16}),
                       .is_wanted = false};
  caller one(gate, what);
  auto const visitor = gate.next(soon_ns);
  REQUIRE(visitor);
  CHECK(visitor->call.signature == what.signature);
  CHECK(visitor->call.stream == what.stream);
  CHECK_FALSE(one.is_inside());
  REQUIRE(gate.admit(visitor->ticket, false));
  one.wait_until_inside();
  CHECK_FALSE(one.is_read());
  CHECK_FALSE(gate.admit(visitor->ticket, false));
  CHECK(gate.impatient() == 0);
}

TEST_CASE("the call that has waited longest is admitted first, and only that one") {
  work_gate gate;
  gate.shut();
  without_impatience const now(gate);
  caller first(gate, {.stream = reinterpret_cast<CUstream>(std::uintptr_t{1})});
  REQUIRE(gate.next(soon_ns));
  caller second(gate, {.stream = reinterpret_cast<CUstream>(std::uintptr_t{2})});
  auto const visitor = gate.next(soon_ns);
  REQUIRE(visitor);
  CHECK(visitor->call.stream == reinterpret_cast<CUstream>(std::uintptr_t{1}));
  REQUIRE(gate.admit(visitor->ticket, false));
  first.wait_until_inside();
  first.leave();
  first.wait_until_over();
  auto const next = gate.next(soon_ns);
  REQUIRE(next);
  CHECK(next->call.stream == reinterpret_cast<CUstream>(std::uintptr_t{2}));
  CHECK_FALSE(second.is_inside());
  gate.open();
}

TEST_CASE("a call that is not admitted continues by itself, which is counted") {
  work_gate gate;
  gate.shut();
  CHECK_FALSE(gate.enter({}));
  CHECK(gate.impatient() == 1);
  CHECK(gate.longest_hold_ns() >= work_gate::max_hold_ns);
  CHECK(gate.take_waited_ns() >= work_gate::max_hold_ns);
  CHECK(gate.take_waited_ns() == 0);
  CHECK(gate.longest_switch_ns() == 0);
  CHECK_FALSE(gate.next(0));  // it waits no more
  CHECK_FALSE(gate.hold());   // it is inside
  gate.leave();
  CHECK(gate.hold());
}

TEST_CASE("the gate cannot be held while a call is inside, and others wait for the next try") {
  work_gate gate;
  REQUIRE_FALSE(gate.enter({}));
  gate.shut();
  CHECK_FALSE(gate.hold());
  without_impatience const now(gate);
  caller late(gate);
  REQUIRE(gate.next(soon_ns));
  CHECK_FALSE(late.is_inside());
  gate.leave();
  wait_until([&] { return gate.hold(); });  // one that looks at the gate is inside for a moment
  CHECK_FALSE(late.is_inside());
  gate.relax();
  CHECK(gate.hold());
  gate.open();
  late.wait_until_inside();
}

TEST_CASE("no call runs out of patience while the keeper is inside CUPTI") {
  work_gate gate;
  gate.shut();
  {
    without_impatience const now(gate);
    caller one(gate);
    REQUIRE(gate.next(soon_ns));
    // Another call, that would have gone on long ago.
    auto const began = monotonic_ns();
    wait_until([&] { return monotonic_ns() - began > 5 * work_gate::max_hold_ns; });
    CHECK_FALSE(one.is_inside());
    CHECK(gate.impatient() == 0);
    gate.open();
    one.wait_until_inside();
  }
  CHECK(gate.impatient() == 0);
  CHECK(gate.longest_switch_ns() >= 5 * work_gate::max_hold_ns);
  CHECK(gate.longest_hold_ns() == 0);
}

TEST_CASE("a call has its full patience again after the keeper has left CUPTI") {
  work_gate gate;
  gate.shut();
  caller* one = nullptr;
  std::uint64_t out = 0;
  std::optional<caller> made;
  {
    without_impatience const now(gate);
    one = &made.emplace(gate);
    REQUIRE(gate.next(soon_ns));
    auto const began = monotonic_ns();
    wait_until([&] { return monotonic_ns() - began > 2 * work_gate::max_hold_ns; });
    out = monotonic_ns();
  }
  one->wait_until_inside();
  CHECK(monotonic_ns() - out >= work_gate::max_hold_ns);
  CHECK(gate.impatient() == 1);
}

TEST_CASE("while the keeper chooses, wanted calls wait and others pass") {
  work_gate gate;
  gate.shut();
  without_impatience const now(gate);
  caller other(gate, {.is_wanted = false});
  REQUIRE(gate.next(soon_ns));
  gate.choose();
  other.wait_until_inside();  // also who had begun to wait
  CHECK_FALSE(gate.enter({.is_wanted = false}));
  gate.leave();
  caller wanted(gate, {.is_wanted = true});
  auto const visitor = gate.next(soon_ns);
  REQUIRE(visitor);
  CHECK(visitor->call.is_wanted);
  CHECK_FALSE(wanted.is_inside());
  gate.choose();  // it goes on choosing
  CHECK_FALSE(wanted.is_inside());
  REQUIRE(gate.admit(visitor->ticket, false));
  wanted.wait_until_inside();
  CHECK(gate.impatient() == 0);
}

TEST_CASE("after a call was admitted all calls wait again") {
  work_gate gate;
  gate.choose();
  without_impatience const now(gate);
  caller wanted(gate, {.is_wanted = true});
  (void)admitted(gate, false);
  wanted.wait_until_inside();
  caller other(gate, {.is_wanted = false});
  REQUIRE(gate.next(soon_ns));
  CHECK_FALSE(other.is_inside());
  gate.open();
}

TEST_CASE("a call that is read waits afterwards until it was counted, and reports what it was") {
  work_gate gate;
  // Its patience after the call has no pause: another try when the machine was too slow.
  for (;;) {
    gate.shut();
    std::optional<caller> one;
    {
      without_impatience const now(gate);
      one.emplace(gate);
      (void)admitted(gate, true);
    }
    one->wait_until_inside();
    CHECK(one->is_read());
    CHECK_FALSE(gate.wait_for_departure(0));
    one->leave();
    auto const departure = gate.wait_for_departure(soon_ns);
    REQUIRE(departure);
    CHECK(departure->correlation == correlation_id{41});
    CHECK_FALSE(departure->failed);
    // It is not inside any more: the keeper may hold the gate and end the range.
    wait_until([&] { return gate.hold(); });
    auto const waited = gate.release_read();
    one->wait_until_over();
    gate.open();
    CHECK_FALSE(gate.wait_for_departure(0));
    if (waited) break;
  }
}

TEST_CASE("a call that is read continues by itself if it is not counted in time") {
  work_gate gate;
  gate.shut();
  std::optional<caller> one;
  {
    without_impatience const now(gate);
    one.emplace(gate);
    (void)admitted(gate, true);
  }
  one->wait_until_inside();
  one->leave();
  REQUIRE(gate.wait_for_departure(soon_ns));
  one->wait_until_over();
  CHECK(gate.impatient() == 1);
  CHECK_FALSE(gate.release_read());
}

TEST_CASE("opening releases all calls, even one that is read") {
  work_gate gate;
  gate.shut();
  without_impatience const now(gate);
  caller read(gate);
  (void)admitted(gate, true);
  read.wait_until_inside();
  caller first(gate), second(gate, {.is_wanted = true});
  read.leave();
  REQUIRE(gate.wait_for_departure(soon_ns));
  gate.open();
  first.wait_until_inside();
  second.wait_until_inside();
  read.wait_until_over();
  CHECK_FALSE(gate.release_read());
}

TEST_CASE("calls that began before the callbacks were off do not block the gate") {
  work_gate gate;
  (void)gate.enter({});
  gate.shut();
  CHECK_FALSE(gate.hold());
  gate.forget_calls();
  CHECK(gate.hold());
}

TEST_CASE("waiting for a call, or for the end of one, times out") {
  work_gate gate;
  gate.shut();
  CHECK_FALSE(gate.next(1'000));
  CHECK_FALSE(gate.wait_for_departure(1'000));
}

TEST_CASE("calls of many threads all pass, whatever the keeper does") {
  work_gate gate;
  constexpr std::size_t threads = 8;
  constexpr int min_calls = 20'000, steps = 3'000;
  std::atomic<bool> keeper_is_done{false};
  std::atomic<std::size_t> over{0};
  std::atomic<int> intruders{0};
  std::atomic<bool> is_held{false};
  std::atomic<std::uint64_t> reads{0};
  gate.shut();
  std::latch all_are_here(threads);
  {
    std::vector<std::jthread> program;
    for (std::size_t t = 0; t < threads; ++t)
      program.emplace_back([&, t] {
        all_are_here.arrive_and_wait();
        for (int i = 0; i < min_calls || !keeper_is_done.load(); ++i) {
          gate_call const what{.is_wanted = (static_cast<std::size_t>(i) + t) % 64 == 0};
          if (gate.enter(what)) {
            reads.fetch_add(1);
            gate.leave_read(correlation_id{1}, false);
          } else {
            if (is_held.load()) intruders.fetch_add(1);
            gate.leave();
          }
        }
        over.fetch_add(1);
      });
    all_are_here.wait();
    std::minstd_rand random(7);
    for (int step = 0; step < steps; ++step) {
      switch (random() % 9) {
        case 0:
          gate.shut();
          if (random() % 16 == 0) (void)gate.wait_for_departure(2 * work_gate::max_hold_ns);
          break;
        case 1:
        case 2:
          gate.choose();
          break;
        case 3: {
          work_gate::switching const now(gate);
          gate.shut();
          if (!gate.hold()) break;
          // Nobody is inside, and nobody loses patience.
          is_held.store(true);
          std::this_thread::yield();
          is_held.store(false);
          gate.relax();
          break;
        }
        case 4:
        case 5:
          if (auto const one = gate.next(10'000)) (void)gate.admit(one->ticket, false);
          break;
        case 6:
          if (auto const one = gate.next(10'000); one && gate.admit(one->ticket, true)) {
            (void)gate.wait_for_departure(soon_ns);
            (void)gate.release_read();
          }
          break;
        case 7: {
          // Kept from going on between the two: who has lost patience meanwhile is counted.
          auto const impatient = gate.impatient();
          gate.shut();
          if (!gate.hold()) break;
          if (random() % 16 == 0) (void)gate.wait_for_departure(2 * work_gate::max_hold_ns);
          work_gate::switching const now(gate);
          if (gate.impatient() == impatient) {
            is_held.store(true);
            std::this_thread::yield();
            is_held.store(false);
          }
          gate.relax();
          break;
        }
        default:
          gate.open();
      }
    }
    gate.open();
    keeper_is_done.store(true);
  }
  CHECK(over.load() == threads);
  CHECK(intruders.load() == 0);
  CHECK(reads.load() > 0);
  gate.shut();
  CHECK(gate.hold());  // nobody is inside
  CHECK_FALSE(gate.next(0));
}

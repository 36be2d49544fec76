// SPDX-License-Identifier: Apache-2.0
// Which signatures are to be read next.
#include "guest/counters/launches/reading_targets.hpp"

#include "support/catch.hpp"
#include "support/moments.hpp"

#include <set>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

constexpr auto for_ever = ~std::uint64_t{0};

struct program {
  launch_signature& signature(std::uintptr_t function) {
    launch_parameters launch;
    launch.work = reinterpret_cast<void const*>(function);
    auto* const found = all.find(launch, 0, [] { return std::uint32_t{0}; });
    found->decide(launch_signature::standing::allowed);
    return *found;
  }
  /// So many launches of it run so long each.
  launch_signature& launches(std::uintptr_t function, int times, std::uint64_t ns) {
    auto& launched = signature(function);
    for (int i = 0; i < times; ++i) {
      launched.count_launch();
      launched.add_time(ns, false);
    }
    return launched;
  }
  reading_targets::outlook look(bool may_repeat = false) {
    return targets.choose(all, readable, may_repeat, now_ns);
  }

  launch_signatures all;
  reading_targets targets;
  reading_targets::what_can_be_read readable{
      .groups = 0b11, .max_ns = for_ever, .affordable_ns = for_ever, .useless_to = {}};
  std::uint64_t now_ns = second;
};

}  // namespace

TEST_CASE("targets are the kinds with the most GPU time, without the last percent") {
  program p;
  auto& small = p.launches(1, 10, us);
  auto& greatest = p.launches(2, 10, 990 * us);
  auto& second_one = p.launches(3, 10, 100 * us);
  auto const found = p.look();
  CHECK(found.wanted == 2);
  CHECK(greatest.recent.is_target);
  CHECK(second_one.recent.is_target);
  CHECK_FALSE(small.recent.is_target);
  CHECK(found.groups == 0b11);
  CHECK(found.unknown_share == Approx(1090. / 1091));
}

TEST_CASE("when the largest kinds are known the next ones follow, up to their share of all") {
  program p;
  auto& greatest = p.launches(1, 10, 90 * us);
  auto& other = p.launches(2, 10, 10 * us);
  greatest.mark_done(0);
  greatest.give_up(0b10);
  auto const found = p.look();
  CHECK(found.wanted == 1);
  CHECK_FALSE(greatest.recent.is_target);
  CHECK(other.recent.is_target);
  CHECK(found.unknown_share == Approx(.1));
}

TEST_CASE("only groups that target kinds still lack are read") {
  program p;
  p.launches(1, 10, us).mark_done(0);
  CHECK(p.look().groups == 0b10);
  p.readable.groups = 0b01;
  auto const found = p.look();
  CHECK(found.wanted == 0);
  CHECK(found.groups == 0);
  CHECK(found.unknown_share == 0);
}

TEST_CASE("before the first kernel record all kinds are equal") {
  program p;
  for (std::uintptr_t f = 1; f <= 5; ++f) p.launches(f, 0, 0);
  for (std::uintptr_t f = 1; f <= 5; ++f)
    for (int i = 0; i < 3; ++i) p.signature(f).count_launch();
  auto const found = p.look();
  CHECK(found.wanted == 5);
  CHECK(found.unknown_share == 1);
}

TEST_CASE("kinds launched less than three times may never come again") {
  program p;
  auto& rare = p.launches(1, 2, 1000 * us);
  CHECK(p.look().wanted == 0);
  p.launches(1, 1, us);
  CHECK(p.look().wanted == 1);
  CHECK(rare.recent.is_target);
}

TEST_CASE("a kind of a phase that ended is not waited for, until it comes again") {
  program p;
  auto& before = p.launches(1, 100, 1000 * us);
  auto& now = p.launches(2, 100, us);
  CHECK(p.look().wanted == 1);
  p.now_ns += reading_targets::is_over_after_ns - 1;
  p.launches(2, 1, us);
  CHECK(p.look().wanted == 1);
  CHECK(before.recent.is_target);
  p.now_ns += 1;
  p.launches(2, 1, us);
  auto const found = p.look();
  CHECK_FALSE(before.recent.is_target);
  CHECK(now.recent.is_target);
  CHECK(found.unknown_share == 1);  // of the time of what still comes
  p.launches(1, 1, us);
  (void)p.look();
  CHECK(before.recent.is_target);
}

TEST_CASE("a known kind is read again after a thousand launches, if that can be afforded") {
  program p;
  auto& signature = p.launches(1, 10, us);
  signature.mark_done(0);
  signature.mark_done(1);
  signature.recent.read_at_launches = 10;
  p.launches(1, 999, us);
  CHECK(p.look(true).wanted == 0);
  p.launches(1, 1, us);
  CHECK(p.look(false).wanted == 0);
  CHECK(signature.done() == 0b11);
  CHECK(p.look(true).wanted == 1);
  CHECK(signature.done() == 0);
  CHECK(signature.ever_done() == 0b11);
}

TEST_CASE("a kind is read again each time after twice as many launches") {
  program p;
  auto& signature = p.launches(1, 5000, us);
  signature.mark_done(0);
  signature.mark_done(1);
  signature.recent.read_at_launches = 5000;
  p.launches(1, 4999, us);
  CHECK(p.look(true).wanted == 0);
  p.launches(1, 1, us);
  CHECK(p.look(true).wanted == 1);
}

TEST_CASE("kinds that ran often in windows count as sampled") {
  program p;
  p.launches(1, 10, 30 * us);
  p.launches(2, 10, 10 * us);
  CHECK(p.look().sampled_share == 0);
  reading_targets::window_begins(p.all);
  p.launches(1, 29, 30 * us);
  reading_targets::window_ends(p.all);
  p.launches(1, 100, 30 * us);  // between windows
  CHECK(p.look().sampled_share == 0);
  reading_targets::window_begins(p.all);
  p.launches(1, 1, 30 * us);
  reading_targets::window_ends(p.all);
  CHECK(p.look().sampled_share == Approx(140 * 30. / (140 * 30 + 10 * 10)));
}

TEST_CASE("three launches in windows are enough for long-running kinds") {
  program p;
  auto const in_a_window = [&p](int launches, std::uint64_t ns) {
    reading_targets::window_begins(p.all);
    p.launches(1, launches, ns);
    reading_targets::window_ends(p.all);
  };
  in_a_window(2, 3000 * us);
  CHECK(p.look().sampled_share == 0);
  in_a_window(1, 3000 * us);
  CHECK(p.look().sampled_share == 1);

  program shorter;
  reading_targets::window_begins(shorter.all);
  shorter.launches(1, 3, 600 * us);  // 1.8 ms in all
  reading_targets::window_ends(shorter.all);
  CHECK(shorter.look().sampled_share == 0);
}

TEST_CASE("a kind that first appeared in a window also counts") {
  program p;
  reading_targets::window_begins(p.all);
  p.launches(1, static_cast<int>(reading_targets::enough_in_windows), us);
  reading_targets::window_ends(p.all);
  CHECK(p.look().sampled_share == 1);
}

TEST_CASE("kinds with varying or too long times are left to samples") {
  program p;
  p.readable.max_ns = 1000 * us;
  auto& too_long = p.launches(1, 10, 1001 * us);
  auto& fits = p.launches(2, 10, 1000 * us);
  auto& varies = p.signature(3);
  for (int i = 0; i < 40; ++i) p.launches(3, 1, i % 2 == 0 ? 100 * us : 900 * us);
  REQUIRE(varies.varies());
  auto const found = p.look();
  CHECK(found.wanted == 1);
  CHECK(fits.recent.is_target);
  CHECK(too_long.hopeless() == 0b11);
  CHECK(varies.hopeless() == 0b11);
}

TEST_CASE("kinds that must not be read are given up") {
  program p;
  auto& never = p.launches(1, 10, us);
  never.decide(launch_signature::standing::never);
  CHECK(p.look().wanted == 0);
  CHECK(never.hopeless() == 0b11);
}

TEST_CASE("groups that tell nothing about a kind are given up for it") {
  program p;
  auto& signature = p.launches(1, 10, us);
  p.launches(2, 10, us);
  p.readable.useless_to = [&](launch_signature const& asked) {
    return &asked == &signature ? launch_signature::groups{0b01} : 0;
  };
  CHECK(p.look().wanted == 2);
  CHECK(signature.hopeless() == 0b01);
  signature.mark_done(1);
  CHECK(p.look().wanted == 1);
}

TEST_CASE("a kind that cannot be afforded now waits, and smaller kinds do not replace it") {
  program p;
  auto& great = p.launches(1, 10, 1000 * us);
  auto& lesser = p.launches(2, 10, us);
  p.readable.affordable_ns = 999 * us;
  auto const found = p.look();
  CHECK(found.wanted == 0);
  CHECK_FALSE(great.recent.is_target);
  CHECK_FALSE(lesser.recent.is_target);
  CHECK(great.hopeless() == 0);
  p.readable.affordable_ns = 1000 * us;
  CHECK(p.look().wanted == 1);
}

TEST_CASE("without launches there are no targets") {
  program p;
  auto const found = p.look();
  CHECK(found.wanted == 0);
  CHECK(found.sampled_share == 0);
  CHECK(found.unknown_share == 0);
}

TEST_CASE("groups that another rank has read are not read here, as long as they are valid") {
  program p;
  auto& signature = p.launches(1, 10, us);
  REQUIRE(p.look().wanted == 1);
  signature.note_read_elsewhere(0b01);
  CHECK(p.look().wanted == 1);  // another group is
  CHECK(p.look().groups == 0b10);
  signature.note_read_elsewhere(0b11);
  CHECK(p.look().wanted == 0);
  CHECK(p.look().unknown_share == 0);
  signature.note_read_elsewhere(0);
  CHECK(p.look().wanted == 1);
}

// SPDX-License-Identifier: Apache-2.0
// Which launches are read in which pass, and what becomes of those that were.
#include "guest/counters/launches/reading_cycle.hpp"

#include "support/catch.hpp"
#include "support/moments.hpp"

#include <array>
#include <optional>
#include <set>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

constexpr std::uint64_t patience = reading_cycle::limits{}.patience_ns;

/// A signature that is to be read.
struct target : launch_signature {
  target() { recent.is_target = true; }
};

read_launch_record launch_numbered(std::uint32_t number) {
  read_launch_record record{};
  record.correlation = static_cast<correlation_id>(number);
  return record;
}

/// A cycle in which launches are read as they come.
struct running_cycle : reading_cycle {
  explicit running_cycle(cycle_group group = {.number = 3, .passes = 1},
                         reading_cycle::limits allowed = {})
      : reading_cycle(group, allowed, 0) {}
  /// A launch came; the range in which it was read.
  std::optional<std::size_t> comes(launch_signature& signature, bool is_kept = true,
                                   std::uint64_t now_ns = 0) {
    auto const range = range_for(signature);
    if (range) add(*range, signature, is_kept, launch_numbered(++launches), now_ns);
    return range;
  }
  std::uint32_t launches = 0;
};

}  // namespace

TEST_CASE("one launch of each kind is read in a pass, each in a range of its own") {
  running_cycle cycle;
  target one, other;
  CHECK(cycle.comes(one) == 0);
  CHECK_FALSE(cycle.comes(one));
  CHECK(cycle.comes(other) == 1);
  CHECK_FALSE(cycle.comes(other));
  CHECK(cycle.has_readings());
}

TEST_CASE("kinds that are not targets, are done or given up are not read") {
  running_cycle cycle;
  launch_signature no_target;
  target done, hopeless, of_other_groups;
  done.mark_done(3);
  hopeless.give_up(0b1000);
  of_other_groups.mark_done(2);
  of_other_groups.give_up(0b10111);
  CHECK_FALSE(cycle.comes(no_target));
  CHECK_FALSE(cycle.comes(done));
  CHECK_FALSE(cycle.comes(hopeless));
  CHECK(cycle.comes(of_other_groups) == 0);
}

TEST_CASE("a kind has the same range in every pass, and no range is added after the first") {
  running_cycle cycle({.number = 0, .passes = 2});
  target one, other, late;
  CHECK(cycle.comes(one) == 0);
  CHECK(cycle.comes(other) == 1);
  REQUIRE(cycle.next_pass(0));
  CHECK_FALSE(cycle.comes(late));
  CHECK(cycle.comes(other) == 1);
  CHECK(cycle.comes(one) == 0);
  CHECK_FALSE(cycle.comes(one));
}

TEST_CASE("a reading that failed keeps its range, which is not opened twice in a pass") {
  running_cycle cycle({.number = 0, .passes = 2});
  target one, other;
  CHECK(cycle.comes(one, false) == 0);
  CHECK(cycle.comes(other) == 1);
  // It may be tried again, under another number.
  CHECK(cycle.comes(one) == 2);
  REQUIRE(cycle.next_pass(0));
  CHECK(cycle.comes(one, false) == 2);
  CHECK_FALSE(cycle.comes(one));
  CHECK(cycle.comes(other) == 1);
  auto const readings = cycle.finish();
  REQUIRE(readings.size() == 3);
  CHECK(readings[0].signature == nullptr);
  CHECK(readings[1].signature == &other);
  CHECK(readings[2].signature == nullptr);
  CHECK(one.done() == 0);
  CHECK(other.done() == 1);
}

TEST_CASE("a kind that missed a pass is not read in later ones") {
  running_cycle cycle({.number = 0, .passes = 3});
  target steady, rare;
  cycle.comes(steady);
  cycle.comes(rare);
  REQUIRE(cycle.next_pass(0));
  CHECK(cycle.comes(steady));
  REQUIRE(cycle.next_pass(0));
  CHECK_FALSE(cycle.comes(rare));
  CHECK(cycle.comes(steady));
}

TEST_CASE("a kind is rewritten only after one of its launches has finished") {
  running_cycle rewriting({.number = 0, .passes = 1, .rewrites = true});
  running_cycle plain({.number = 0, .passes = 1, .rewrites = false});
  target signature;
  CHECK(rewriting.needs_proof(signature));
  CHECK_FALSE(rewriting.comes(signature));
  CHECK_FALSE(plain.needs_proof(signature));
  signature.note_ends_alone();
  CHECK_FALSE(rewriting.needs_proof(signature));
  CHECK(rewriting.comes(signature) == 0);
  // Who has nothing to be read has nothing to show.
  launch_signature no_target;
  target done;
  done.mark_done(0);
  CHECK_FALSE(rewriting.needs_proof(no_target));
  CHECK_FALSE(rewriting.needs_proof(done));
}

TEST_CASE("the number of ranges in a pass is limited") {
  running_cycle cycle({.number = 0, .passes = 1}, {.max_ranges = 2});
  target one, other, third;
  cycle.comes(one);
  CHECK_FALSE(cycle.pass_is_over(3, 0));
  cycle.comes(other, false);
  CHECK_FALSE(cycle.comes(third));
  CHECK(cycle.pass_is_over(3, 0));
}

TEST_CASE("the first pass ends when all targets were read, or no more launches come") {
  running_cycle cycle;
  target one, other;
  CHECK_FALSE(cycle.pass_is_over(2, 0));
  CHECK_FALSE(cycle.pass_is_over(0, 0));
  cycle.comes(one, true, 100 * ms);
  CHECK_FALSE(cycle.pass_is_over(2, 100 * ms));
  CHECK_FALSE(cycle.pass_is_over(2, 100 * ms + patience - 1));
  CHECK(cycle.pass_is_over(2, 100 * ms + patience));
  CHECK(cycle.pass_is_over(1, 100 * ms));
  cycle.comes(other, true, 200 * ms);
  CHECK(cycle.pass_is_over(2, 200 * ms));
}

TEST_CASE("a first pass without any reading goes on") {
  running_cycle cycle({.number = 0, .passes = 2});
  CHECK_FALSE(cycle.pass_is_over(1, 0));
  CHECK_FALSE(cycle.pass_is_over(1, 100 * patience));
  CHECK_FALSE(cycle.has_readings());
}

TEST_CASE("a later pass waits for the kinds of earlier passes, for a limited time") {
  running_cycle cycle({.number = 0, .passes = 2});
  target one, other;
  cycle.comes(one);
  cycle.comes(other);
  REQUIRE(cycle.next_pass(10 * ms));
  CHECK(cycle.pass() == 1);
  CHECK_FALSE(cycle.pass_is_useless());
  CHECK_FALSE(cycle.pass_is_over(0, 10 * ms));
  cycle.comes(one, true, 20 * ms);
  CHECK_FALSE(cycle.pass_is_over(0, 20 * ms));
  CHECK(cycle.pass_is_over(0, 20 * ms + patience));
  cycle.comes(other, true, 30 * ms);
  CHECK(cycle.pass_is_over(9, 30 * ms));
  CHECK_FALSE(cycle.next_pass(30 * ms));
}

TEST_CASE("a pass is useless if no reading is complete") {
  running_cycle cycle({.number = 0, .passes = 3});
  CHECK_FALSE(cycle.pass_is_useless());
  target one;
  cycle.comes(one);
  REQUIRE(cycle.next_pass(0));
  cycle.comes(one, false);
  REQUIRE(cycle.next_pass(0));
  CHECK(cycle.pass_is_useless());
  CHECK(cycle.pass_is_over(1, 0));
}

TEST_CASE("if every launch is read each has its own range, whatever its kind") {
  running_cycle cycle({.number = 0, .passes = 1, .rewrites = true},
                      {.max_ranges = 3, .every_launch = true});
  launch_signature signature;
  CHECK_FALSE(cycle.needs_proof(signature));
  CHECK(cycle.comes(signature) == 0);
  CHECK(cycle.comes(signature, false) == 1);
  CHECK_FALSE(cycle.pass_is_over(0, 100 * patience));
  CHECK(cycle.comes(signature) == 2);
  CHECK(cycle.pass_is_over(0, 0));
  CHECK_FALSE(cycle.comes(signature));
  CHECK_FALSE(cycle.pass_is_useless());
  CHECK(signature.hopeless() == 0);
  auto const readings = cycle.finish();
  REQUIRE(readings.size() == 3);
  CHECK(readings[0].launches.size() == 1);
  CHECK(readings[1].signature == nullptr);
  CHECK(readings[2].launches.size() == 1);
}

TEST_CASE("kinds with all passes are done, with a number for their launches") {
  running_cycle cycle({.number = 3, .passes = 2});
  target whole, half, other;
  whole.count_launch();
  for (auto* const signature : {&whole, &half, &other}) cycle.comes(*signature);
  REQUIRE(cycle.next_pass(0));
  cycle.comes(whole);
  cycle.comes(other);
  auto const readings = cycle.finish();
  REQUIRE(readings.size() == 3);
  CHECK(whole.done() == 0b1000);
  CHECK(whole.recent.read_at_launches == 1);
  REQUIRE(readings[0].launches.size() == 2);
  auto const& first = readings[0].launches[0];
  CHECK(first.correlation == correlation_id{1});
  CHECK(readings[0].launches[1].correlation == correlation_id{4});
  CHECK(first.group == 3);
  CHECK(first.reading != 0);
  CHECK(readings[0].launches[1].reading == first.reading);
  CHECK(readings[2].launches.at(0).reading != first.reading);
  CHECK(half.done() == 0);
  CHECK(readings[1].launches.empty());
  CHECK(half.hopeless() == 0);
}

TEST_CASE("a kind that fails three times is given up, but only for this group") {
  target signature;
  for (int i = 0; i < 2; ++i) {
    running_cycle cycle({.number = 3, .passes = 2});
    REQUIRE(cycle.comes(signature));
    (void)cycle.finish();  // a pass is missing
    CHECK(signature.hopeless() == 0);
  }
  running_cycle cycle({.number = 3, .passes = 2});
  REQUIRE(cycle.comes(signature, false));
  CHECK(signature.hopeless() == 0b1000);
  CHECK_FALSE(cycle.comes(signature));
}

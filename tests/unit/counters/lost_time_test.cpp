// SPDX-License-Identifier: Apache-2.0
// How much time a program lost while counters were taken.
#include "guest/counters/lost_time.hpp"

#include "support/catch.hpp"
#include "support/moments.hpp"

#include <cmath>
#include <random>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

/// A program whose launches each take some time, longer while counters are taken.
class paced_program {
 public:
  /// `per_us`: launches in a microsecond. `slower`: how many times as long one takes with counters.
  paced_program(double per_us, double slower, double noise = 0)
      : per_us_(per_us), slower_(slower), noise_(noise) {}

  void run(std::uint64_t duration_ms, bool taken) {
    for (std::uint64_t i = 0; i < duration_ms; i += 10) {
      now_ += 10 * ms;
      auto const pace = per_us_ * (1 + noise_ * chance_(random_)) * drift_;
      launches_ += pace * 10'000 / (taken ? slower_ : 1);
      lost.note(now_, static_cast<std::uint64_t>(launches_), taken);
    }
  }
  void drift(double factor) { drift_ *= factor; }
  /// Counters are set up or released: no launch comes.
  void hold(std::uint64_t duration_ms) {
    now_ += duration_ms * ms;
    lost.note(now_, static_cast<std::uint64_t>(launches_), true);
  }

  lost_time lost;

 private:
  double per_us_, slower_, noise_, drift_ = 1, launches_ = 0;
  std::uint64_t now_ = second;
  std::mt19937 random_{7};
  std::normal_distribution<double> chance_;
};

}  // namespace

TEST_CASE("a program that is a tenth slower with counters has lost an eleventh of that time") {
  paced_program program(0.1, 1.1);
  for (int burst = 0; burst < 4; ++burst) {
    program.run(2000, false);
    program.run(1000, true);
  }
  program.run(2000, false);
  auto const found = program.lost.so_far();
  REQUIRE(found);
  CHECK(std::abs(found->lost_ns - 4e9 / 11) < 4e6);
  CHECK(found->error_ns < 4e6);
  paced_program same(0.1, 1.0);
  same.run(2000, false);
  same.run(1000, true);
  same.run(2000, false);
  REQUIRE(same.lost.so_far());
  CHECK(std::abs(same.lost.so_far()->lost_ns) < 2e6);
}

TEST_CASE("what is lost is within three errors of the truth if the pace varies") {
  int within = 0;
  for (int seed = 0; seed < 20; ++seed) {
    paced_program program(0.02 + 0.001 * seed, 1.05, 0.3);
    for (int burst = 0; burst < 6; ++burst) {
      program.run(3000, false);
      program.run(900, true);
    }
    program.run(1500, false);
    auto const found = program.lost.so_far();
    REQUIRE(found);
    CHECK(found->error_ns > 10e6);
    within += std::abs(found->lost_ns - 5.4e9 * 0.05 / 1.05) < 3 * found->error_ns;
  }
  CHECK(within >= 18);
}

TEST_CASE("a program that becomes slower by itself has lost nothing to counters") {
  paced_program program(0.1, 1.0);
  for (int i = 0; i < 6; ++i) {
    program.run(500, false);
    program.drift(0.9);
  }
  program.run(1000, false);
  program.drift(0.9);
  program.run(1000, true);
  program.drift(0.9);
  program.run(2000, false);
  auto const found = program.lost.so_far();
  REQUIRE(found);
  CHECK(std::abs(found->lost_ns) < 20e6);
}

TEST_CASE(
    "the first stretch is compared with the second after it, and only until others have both") {
  paced_program program(0.1, 2.0);
  program.run(1000, true);
  CHECK_FALSE(program.lost.so_far());
  program.run(300, false);
  CHECK_FALSE(program.lost.so_far());
  program.run(300, false);
  REQUIRE(program.lost.so_far());
  CHECK_FALSE(program.lost.so_far()->has_both_sides);
  CHECK(std::abs(program.lost.so_far()->lost_ns - 0.5e9) < 20e6);
  program.run(1400, false);
  program.run(1000, true);
  CHECK(std::abs(program.lost.so_far()->lost_ns - 1e9) < 40e6);  // of both, by the first
  program.run(2000, false);
  REQUIRE(program.lost.so_far());
  CHECK(program.lost.so_far()->has_both_sides);
  CHECK(std::abs(program.lost.so_far()->lost_ns - 1e9) < 20e6);  // half of both
  program.lost.interrupt();
  program.run(1000, true);
  program.run(300, false);
  program.run(1000, true);
  CHECK(std::abs(program.lost.so_far()->lost_ns - 2e9) < 60e6);
}

TEST_CASE("the release of counters counts once, not as a part of each second") {
  auto const truth_ns = [](std::uint64_t hold_ms) { return 4.8e9 * 0.05 / 1.05 + 1e6 * hold_ms; };
  for (std::uint64_t const hold_ms : {30, 100, 400}) {
    paced_program program(0.1, 1.05);
    program.run(4800, true);
    program.hold(hold_ms);
    program.run(2000, false);
    auto const found = program.lost.so_far();
    REQUIRE(found);
    CAPTURE(hold_ms, found->lost_ns, found->error_ns);
    CHECK(std::abs(found->lost_ns - truth_ns(hold_ms)) < 20e6);
    CHECK(found->error_ns < 20e6);
  }
  paced_program both(0.1, 1.05);
  both.run(1500, false);
  both.run(4800, true);
  both.hold(400);
  both.run(2000, false);
  REQUIRE(both.lost.so_far());
  CHECK(std::abs(both.lost.so_far()->lost_ns - truth_ns(400)) < 20e6);
}

TEST_CASE("a run of five seconds knows what it lost within two errors") {
  int within = 0, useful = 0;
  for (int seed = 0; seed < 40; ++seed) {
    paced_program program(0.02 + 0.001 * seed, 1.1, 0.2);
    program.run(2500, true);
    program.run(2500, false);
    auto const found = program.lost.so_far();
    REQUIRE(found);
    auto const truth = 2.5e9 * 0.1 / 1.1;
    within += std::abs(found->lost_ns - truth) < 2 * found->error_ns;
    useful += found->error_ns < truth;
  }
  CHECK(within >= 36);
  CHECK(useful >= 36);
}

TEST_CASE("a program that warms up while counters are taken has a large error") {
  paced_program program(0.1, 1.0);
  for (int i = 0; i < 10; ++i) {
    program.run(200, true);
    program.drift(1.15);
  }
  program.run(2500, false);
  auto const found = program.lost.so_far();
  REQUIRE(found);
  CHECK(found->lost_ns < 2 * found->error_ns);
  paced_program before(0.1, 1.0);  // it is warm a second before the counters are released
  for (int i = 0; i < 5; ++i) {
    before.run(200, true);
    before.drift(1.15);
  }
  before.run(1100, true);
  before.run(2500, false);
  REQUIRE(before.lost.so_far());
  CHECK(std::abs(before.lost.so_far()->lost_ns) < 20e6);
  CHECK(before.lost.so_far()->error_ns < 20e6);
}

TEST_CASE("a program that launches nothing tells nothing") {
  paced_program program(0, 1.0);
  program.run(2000, false);
  program.run(1000, true);
  program.run(2000, false);
  CHECK_FALSE(program.lost.so_far());
}

TEST_CASE("a program that works at another pace after counters than before may have lost nothing") {
  paced_program program(0.1, 1.0);
  program.run(2000, false);
  program.run(500, true);
  program.drift(1.5);
  program.run(500, true);
  program.run(2000, false);
  auto const found = program.lost.so_far();
  REQUIRE(found);
  CHECK(found->has_both_sides);
  CHECK(found->error_ns > std::abs(found->lost_ns));
}

TEST_CASE("a program that started before counters were taken is compared with what came after") {
  paced_program program(0.1, 1.1);
  program.run(1000, false);
  program.drift(10);
  program.run(2000, true);
  program.run(2000, false);
  auto const found = program.lost.so_far();
  REQUIRE(found);
  CHECK_FALSE(found->has_both_sides);
  CHECK(std::abs(found->lost_ns - 2e9 / 11) < 0.2e9 / 11);
  CHECK(found->error_ns < 0.2e9 / 11);
}

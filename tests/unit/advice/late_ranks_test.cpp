// SPDX-License-Identifier: Apache-2.0
// Made ranks that wait for each other: which one is late, why, and if the gain holds what it would
// save if it did as much as the others.
#include "host/advice/late_ranks.hpp"

#include "../replay/made_machine.hpp"
#include "host/replay/joined_ranks.hpp"
#include "support/catch.hpp"

#include <utility>
#include <vector>

namespace gpuprof::host::advice {
namespace {

using namespace replay;

constexpr std::uint32_t steps_of_run = 30;

using program = std::vector<act>;

program training(std::int64_t work_ns, std::int64_t kernel_ns, std::int64_t copy_ns = 10'000) {
  program acts{copy("h2d", copy_ns)};
  for (int i = 0; i < 4; ++i) {
    acts.push_back(work(work_ns));
    acts.push_back(kernel("k", kernel_ns));
    acts.push_back(meet(100'000));
    acts.push_back(kernel("optimizer", 20'000));
  }
  acts.push_back(wait());
  return acts;
}

/// The clock of the second rank is wrong by `off_ns`.
std::vector<late_rank> late(std::vector<program> const& programs, std::int64_t off_ns = 0,
                            bool has_calls = true) {
  std::vector<steps_of_rank> ranks;
  for (auto& one : record_ranks(programs, steps_of_run))
    ranks.push_back({std::to_string(ranks.size()), ranks.size() == 1 ? off_ns : 0, std::move(one)});
  return find_late_ranks(step_graph(join_ranks(std::move(ranks), 0).steps), has_calls);
}

void check_gain(late_rank const& one, std::vector<program> const& now,
                std::vector<program> const& repaired) {
  auto const won = true_step_ns(now, steps_of_run) - true_step_ns(repaired, steps_of_run);
  CAPTURE(won, one.least_gain_ns, one.greatest_gain_ns);
  CHECK(one.least_gain_ns <= won);
  CHECK(won <= one.greatest_gain_ns);
}

TEST_CASE("a rank with longer kernels is late by them") {
  auto const usual = training(10'000, 200'000), longer = training(10'000, 300'000);
  std::vector<program> const programs{usual, usual, longer, usual};
  auto const found = late(programs);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 2);
  CHECK(found[0].cause == late_cause::kernels);
  CHECK(found[0].what == "k");
  CHECK(found[0].more_ns == Approx(400'000));
  CHECK(found[0].late_steps == steps_of_run);
  check_gain(found[0], programs, {usual, usual, usual, usual});
}

TEST_CASE("a rank whose CPU works longer is late by that") {
  auto const usual = training(10'000, 50'000), slow = training(300'000, 50'000);
  std::vector<program> const programs{slow, usual};
  auto const found = late(programs);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 0);
  CHECK(found[0].cause == late_cause::cpu_work);
  check_gain(found[0], programs, {usual, usual});
}

TEST_CASE("a rank that copies for longer is late by that") {
  auto const usual = training(10'000, 100'000), copies = training(10'000, 100'000, 500'000);
  std::vector<program> const programs{usual, copies, usual};
  auto const found = late(programs);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 1);
  CHECK(found[0].cause == late_cause::copies);
  CHECK(found[0].what == "h2d");
  check_gain(found[0], programs, {usual, usual, usual});
}

TEST_CASE("a rank is late in the step that launched a collective, however much later it runs") {
  auto const without_wait = [](std::int64_t kernel_ns) {
    auto acts = training(10'000, kernel_ns);
    acts.pop_back();
    return acts;
  };
  auto const found = late({without_wait(200'000), without_wait(300'000)});
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 1);
  CHECK(found[0].late_steps > steps_of_run / 2);
  CHECK(found[0].late_steps <= steps_of_run);
  CHECK(late({without_wait(200'000), without_wait(200'000)}).empty());
}

TEST_CASE("without calls a late rank is told with how late it is") {
  auto const usual = training(10'000, 200'000), longer = training(10'000, 300'000);
  auto const found = late({usual, longer}, 0, false);
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].is_replayed);
  CHECK(found[0].least_gain_ns == 0);
  CHECK(found[0].greatest_gain_ns == found[0].late_ns);
}

TEST_CASE("equal ranks are not late, nor is one with a little more to do") {
  auto const usual = training(10'000, 200'000);
  CHECK(late({usual, usual}).empty());
  CHECK(late({usual, usual, usual, usual}).empty());
  CHECK(late({usual, training(10'000, 201'000)}).empty());
}

TEST_CASE("a rank that this profiler held is not late") {
  auto const usual = training(10'000, 200'000);
  auto held = usual;
  held.insert(held.begin() + 1, hold(300'000));
  CHECK(late({usual, held, usual}).empty());
  auto works = usual;
  works.insert(works.begin() + 1, work(300'000));
  CHECK(late({usual, works, usual}).size() == 1);
}

TEST_CASE("a late rank is found beside one that this profiler held for longer") {
  auto const usual = training(10'000, 200'000), longer = training(10'000, 260'000);
  auto held = usual;
  held.insert(held.begin() + 1, hold(300'000));
  std::vector<program> const programs{held, usual, longer};
  auto const found = late(programs);
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 2);
  CHECK(found[0].cause == late_cause::kernels);
  CHECK(found[0].more_ns == Approx(240'000));
}

TEST_CASE("a thread that was held while its GPU worked is as late as it was") {
  auto const usual = training(10'000, 200'000), longer = training(10'000, 300'000);
  auto held = longer;
  held.insert(held.begin() + 4, hold(100'000));  // beside the collective and the kernel before it
  auto const found = late({usual, held});
  REQUIRE(found.size() == 1);
  CHECK(found[0].rank == 1);
  CHECK(found[0].late_ns == Approx(late({usual, longer})[0].late_ns).epsilon(0.02));
}

TEST_CASE("a rank that begins later than its work explains is not blamed") {
  auto const usual = training(10'000, 200'000);
  auto const step_ns = true_step_ns({usual, usual}, steps_of_run);
  CHECK(late({usual, usual}, static_cast<std::int64_t>(step_ns / 20)).empty());
}

}  // namespace
}  // namespace gpuprof::host::advice

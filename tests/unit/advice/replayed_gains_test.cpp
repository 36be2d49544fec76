// SPDX-License-Identifier: Apache-2.0
// Findings state repairs; what they save is compared with the repaired program on a made machine.
#include "host/advice/replayed_gains.hpp"

#include "../replay/made_machine.hpp"
#include "made_run.hpp"
#include "support/catch.hpp"

namespace gpuprof::host::advice {
namespace {

using namespace replay;

constexpr std::uint32_t steps = 60;

std::vector<act> times(std::size_t count, std::vector<act> const& acts) {
  std::vector<act> all;
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), acts.begin(), acts.end());
  return all;
}

struct replayed_run {
  explicit replayed_run(std::vector<act> const& step) : replayed_run(record(step, steps)) {}
  explicit replayed_run(recorded_steps recorded) : graph(std::move(recorded)) {
    facts = made_run(500 * ms, time_bucket::cpu_work);
    facts.run.round_trip = 0;
  }

  void replay(std::vector<finding>& findings) const {
    replay_gains(findings, facts, {&graph, steps});
  }
  /// Of the whole run.
  double won_by(std::vector<act> const& repaired) const {
    return steps * (step_ns(step_edit(graph)) - true_step_ns(repaired, steps));
  }

  step_graph graph;
  run_facts facts;
};

finding with(stated_repair repair) {
  finding one;
  one.repairs = {std::move(repair)};
  return one;
}

kernel_facts kernel_of(double total_ns) {
  kernel_facts facts;
  facts.name = "k";
  facts.total_ns = total_ns;
  return facts;
}

finding without_wait() {
  return with({.kind = repair_kind::drop_calls, .names = {"cudaDeviceSynchronize"}});
}

void check_holds(finding const& one, double won) {
  CAPTURE(one.gain.low_ns, won, one.gain.high_ns);
  CHECK(one.is_replayed);
  CHECK(one.gain.low_ns <= won);
  CHECK(won <= one.gain.high_ns);
}

std::vector<act> const kernels = times(10, {work(1000), kernel("k", 30'000)});

TEST_CASE("the gain of a finding is what its repair saves in all steps") {
  auto step = kernels;
  step.push_back(wait());
  step.push_back(work(200'000));
  replayed_run const run(step);
  std::vector<finding> found{without_wait()};
  run.replay(found);
  auto repaired = kernels;
  repaired.push_back(work(200'000));
  check_holds(found[0], run.won_by(repaired));
  CHECK(found[0].then == path_part::kernels);
}

TEST_CASE("a gain counts for each GPU, as the window does") {
  replayed_run run(times(10, {work(1000), kernel("k", 30'000), wait()}));
  std::vector<finding> one{without_wait()}, two = one;
  run.replay(one);
  run.facts.devices.push_back(run.facts.devices.front());
  run.replay(two);
  CHECK(two[0].gain.high_ns == Approx(2 * one[0].gain.high_ns));
}

TEST_CASE("two findings never save more than both repairs together") {
  auto step = times(10, {work(1000), kernel("k", 30'000), wait()});
  replayed_run const run(step);
  std::vector<finding> found{without_wait(), without_wait()};
  run.replay(found);
  CHECK(found[0].gain.high_ns > 0);
  CHECK(found[1].gain.high_ns == Approx(0).margin(1));
  CHECK(found[1].arithmetic.find("alone it saves") != std::string::npos);
}

TEST_CASE("a shorter kernel that launches hide saves nothing, and its finding says so") {
  replayed_run const run(times(40, {work(20'000), kernel("k", 10'000)}));
  auto one = with({.kind = repair_kind::scale, .names = {"k"}});
  auto const all_of_it = steps * 40 * 10'000.0;
  one.repairs[0].saved_low_ns = 0.2 * all_of_it;
  one.repairs[0].saved_high_ns = 0.5 * all_of_it;
  std::vector<finding> found{one};
  replayed_run timed = run;
  timed.facts.kernels.push_back(kernel_of(all_of_it));
  timed.replay(found);
  CHECK(found[0].gain.high_ns < 0.01 * all_of_it);
  CHECK(found[0].is_hidden_by_launches);
  CHECK(found[0].then == path_part::cpu_work);
}

TEST_CASE("a fix that saves only after others comes behind them, whatever it saves then") {
  // A launch every 20 us hides kernels of 15 us. With the first of two launches gone, they would
  // hold the program.
  replayed_run const run(
      times(40, {work(12'000), kernel("small", 1'000), work(12'000), kernel("k", 15'000)}));
  std::vector<finding> found{with({.kind = repair_kind::scale, .names = {"k"}, .at_best = 0.1}),
                             with({.kind = repair_kind::drop, .names = {"small"}})};
  for (auto& one : found) one.within_ns = 500 * ms;
  run.replay(found);
  CHECK(found[0].alone_ns < 0.1 * found[1].alone_ns);
  CHECK(found[1].alone_ns == Approx(found[1].gain.high_ns));
}

TEST_CASE("a kernel saves the share of its time that its finding claims") {
  replayed_run run(times(40, {work(2000), kernel("k", 30'000)}));
  auto const all_of_it = steps * 40 * 30'000.0;
  run.facts.kernels.push_back(kernel_of(all_of_it));
  auto one = with({.kind = repair_kind::scale, .names = {"k"}});
  one.repairs[0].saved_low_ns = one.repairs[0].saved_high_ns = all_of_it / 2;
  std::vector<finding> found{one};
  run.replay(found);
  check_holds(found[0], run.won_by(times(40, {work(2000), kernel("k", 15'000)})));
  CHECK_FALSE(found[0].is_hidden_by_launches);
}

TEST_CASE("a gain holds in steps with little CPU work and in steps with much") {
  // Every other step has twice the CPU work, so that launches hold it.
  auto const with = [](std::int64_t ns) { return times(40, {work(ns), kernel("k", 30'000)}); };
  replayed_run const run(record_in_turn({with(20'000), with(40'000)}, steps / 2));
  auto shorter = finding();
  shorter.repairs = {{.kind = repair_kind::scale, .names = {"k"}, .sure = 0.5, .at_best = 0.5}};
  std::vector<finding> found{shorter};
  run.replay(found);
  auto const all_ns = steps * step_ns(step_edit(run.graph));
  auto const share = [&](double ns) { return ns / all_ns; };
  // A quarter of the quick steps, nothing of the slow ones.
  CHECK(share(found[0].gain.low_ns) == Approx(0).margin(0.01));
  CHECK(share(found[0].gain.high_ns) == Approx(1.1 * 8 / 31).epsilon(0.17));
  replayed_run const even(with(20'000));
  std::vector<finding> of_even{shorter};
  even.replay(of_even);
  CHECK(of_even[0].gain.low_ns > 0.85 * of_even[0].gain.high_ns);
}

TEST_CASE("a repair that may not belong to the fix is no part of the low gain") {
  replayed_run const run(times(10, {work(1000), kernel("k", 30'000), kernel("other", 20'000)}));
  auto both = with({.kind = repair_kind::drop, .names = {"k"}});
  both.repairs.push_back({.kind = repair_kind::drop, .names = {"other"}, .is_only_at_best = true});
  std::vector<finding> found{both};
  run.replay(found);
  CHECK(found[0].gain.low_ns < steps * 10 * 32'000.0);
  CHECK(found[0].gain.high_ns > steps * 10 * 50'000.0);
}

TEST_CASE("what two shapes of a kernel save is added up, not multiplied") {
  replayed_run run(times(40, {work(2000), kernel("k", 30'000)}));
  auto const all_of_it = steps * 40 * 30'000.0;
  run.facts.kernels.push_back(kernel_of(all_of_it));
  auto one = with({.kind = repair_kind::scale, .names = {"k"}});
  one.repairs[0].saved_low_ns = one.repairs[0].saved_high_ns = 0.4 * all_of_it;
  one.repairs.push_back(one.repairs[0]);
  std::vector<finding> found{one};
  run.replay(found);
  check_holds(found[0], run.won_by(times(40, {work(2000), kernel("k", 6000)})));
}

TEST_CASE("a finding whose names do not occur in the steps keeps its gain") {
  replayed_run const run(kernels);
  auto other = with({.kind = repair_kind::drop_calls, .names = {"cudaFree"}});
  other.gain = {1, 2};
  auto elsewhere = with({.kind = repair_kind::fuse_pairs, .within = "no such range"});
  elsewhere.gain = {3, 4};
  std::vector<finding> found{other, elsewhere};
  run.replay(found);
  CHECK_FALSE(found[0].is_replayed);
  CHECK(found[0].gain.high_ns == 2);
  CHECK_FALSE(found[1].is_replayed);
  CHECK(found[1].gain.low_ns == 3);
}

TEST_CASE(
    "where a fix has a condition, the low gain leaves room for what takes the place of work") {
  std::vector<act> const step{kernel("k", 400'000), kernel("moves", 100'000), work(1000), wait()};
  replayed_run const run(step);
  auto gone = with({.kind = repair_kind::drop, .names = {"moves"}});
  std::vector<finding> plain{gone};
  gone.condition = "nothing needs the moves";
  std::vector<finding> found{gone};
  run.replay(plain);
  run.replay(found);
  CHECK(found[0].gain.high_ns == plain[0].gain.high_ns);
  CHECK(found[0].gain.low_ns == Approx(0.8 * plain[0].gain.low_ns));
  check_holds(found[0], run.won_by({kernel("k", 400'000), work(1000), wait()}));
}

TEST_CASE("the low gain is a quarter of the way from the least repair to the best one") {
  replayed_run const run(times(10, {work(1000), kernel("k", 30'000)}));
  auto const low_of = [&](finding one) {
    one.repairs[0].sure = 0.8;
    one.repairs[0].at_best = 0.4;
    std::vector<finding> found{one};
    run.replay(found);
    return found[0].gain.low_ns / (0.95 * steps * 10 * 30'000.0);
  };
  auto shorter = with({.kind = repair_kind::scale, .names = {"k"}});
  CHECK(low_of(shorter) == Approx(0.2 + 0.25 * 0.4).epsilon(0.03));
  shorter.claim = kernel_claim::remainder;
  CHECK(low_of(shorter) == Approx(0.2).epsilon(0.03));
}

TEST_CASE("work that moves beside the step still takes its time there") {
  std::vector<act> const step{work(900'000), kernel("k", 300'000), wait()};
  replayed_run const run(step);
  auto one = with({.kind = repair_kind::scale_cpu, .names = {"step"}});
  one.beside_ns = steps * 900'000.0;
  std::vector<finding> found{one};
  run.replay(found);
  CHECK(found[0].gain.low_ns == Approx(0.95 * steps * 307'000.0).epsilon(0.03));
  CHECK(found[0].gain.high_ns > steps * 890'000.0);
}

TEST_CASE("launches are shorter without this profiler, so that its cost is no gain") {
  replayed_run run(times(40, {kernel("k", 500)}));  // a launch each 2,000 ns
  run.facts.own_ns_a_launch = 1500;
  auto faster = with({.kind = repair_kind::fuse_pairs});
  std::vector<finding> found{faster}, other{faster};
  run.replay(found);
  run.facts.own_ns_a_launch = 0;
  run.replay(other);
  CHECK(found[0].gain.high_ns < 0.4 * other[0].gain.high_ns);
}

TEST_CASE("a replayed gain is no larger than the idle time that the finding is about") {
  auto const highest = [](double idle_ns) {
    replayed_run made(times(10, {work(200'000), kernel("k", 30'000), wait()}));
    made.facts.run.launch_distance = 2 * us;
    made.facts.gaps = {gaps(time_bucket::cpu_work, 600, idle_ns)};
    made.facts.gaps[0].range = "step";
    replayable_steps const steps_of_run{&made.graph, steps};
    auto const given = give_advice(made.facts, {.only = {"gpu_idle"}, .skipped = {}, .min_gain = 0},
                                   &steps_of_run);
    REQUIRE(given.findings.size() == 1);
    CHECK(given.findings[0].is_replayed);
    CHECK(given.findings[0].gain.low_ns <= 0.7 * given.findings[0].gain.high_ns);
    return given.findings[0].gain.high_ns;
  };
  CHECK(highest(30 * ms) == Approx(30 * ms));
  CHECK(highest(500 * ms) > 60 * ms);
}

TEST_CASE("all gains together are no larger than the run, though each has an error") {
  replayed_run made(times(10, {work(200'000), kernel("k", 30'000), wait()}));
  made.facts.window_ns = 100 * ms;  // less than what the repair saves in the replayed steps
  made.facts.run.launch_distance = 2 * us;
  made.facts.gaps = {gaps(time_bucket::cpu_work, 600, 500 * ms)};
  made.facts.gaps[0].range = "step";
  replayable_steps const steps_of_run{&made.graph, steps};
  auto const given =
      give_advice(made.facts, {.only = {"gpu_idle"}, .skipped = {}, .min_gain = 0}, &steps_of_run);
  REQUIRE(given.findings.size() == 1);
  CHECK(given.findings[0].gain.high_ns == Approx(100 * ms));
  CHECK(given.best_case_ns == 0);
}

TEST_CASE("advice takes its gains from the replay, and the best case from all of them") {
  auto const run = [] {
    replayed_run made(times(10, {work(1000), kernel("k", 30'000), wait()}));
    made.facts.gaps = {waits("cudaDeviceSynchronize", 600, 5 * ms, 1 * ms)};
    made.facts.gaps[0].whole_device = true;
    made.facts.gaps[0].range = "step";
    return made;
  }();
  replayable_steps const steps_of_run{&run.graph, steps};
  advice_options const options{.only = {"device_wide_sync"}, .skipped = {}, .min_gain = 0};
  auto const given = give_advice(run.facts, options, &steps_of_run);
  REQUIRE(given.findings.size() == 1);
  CHECK(given.findings[0].is_replayed);
  CHECK(given.best_case_ns == Approx(run.facts.all_windows_ns() - given.findings[0].gain.high_ns));
}

}  // namespace
}  // namespace gpuprof::host::advice

// SPDX-License-Identifier: Apache-2.0
// No nanosecond is claimed twice, whatever the rules find.
#include "made_run.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <set>

using namespace gpuprof;
using namespace gpuprof::host::advice;

namespace {

double sum_of_gains(run_advice const& given) {
  double sum = 0;
  for (auto const& one : given.findings) sum += one.gain.high_ns;
  for (auto const& one : given.too_small) sum += one.gain.high_ns;
  return sum;
}

}  // namespace

TEST_CASE("waits, tiny kernels and a graph together save no more than the idle time") {
  auto facts = made_run(300 * ms, time_bucket::launch_bound);
  facts.devices[0].ledger[time_bucket::launch_bound] = 400 * ms;
  facts.devices[0].ledger[time_bucket::synchronization] = 300 * ms;
  facts.gaps = {gaps(time_bucket::launch_bound, 100'000, 400 * ms),
                waits("cudaStreamSynchronize", 100, 200 * ms),
                waits("cudaEventSynchronize", 100, 200 * ms)};
  facts.run.launch_distance = 5 * us;
  facts.steps.items = 200'000;
  facts.sequences = {{.kernels = {"a"},
                      .length = 20,
                      .repetitions = 10'000,
                      .range = "step",
                      .run_ns = 950 * ms,
                      .busy_ns = 300 * ms}};
  auto const given = give_advice(facts, {});
  CHECK(given.findings.size() >= 3);
  CHECK(sum_of_gains(given) <= 700 * ms + 1);
  CHECK(given.best_case_ns >= 300 * ms - 1);
  for (auto const& one : given.findings) CHECK(one.gain.low_ns <= one.gain.high_ns);
}

TEST_CASE("all waits together save the time of steps beyond GPU and launching thread") {
  auto facts = made_run(400 * ms, time_bucket::synchronization, 800 * ms);
  facts.gaps = {waits("cudaStreamSynchronize", 100, 300 * ms, 20 * ms),
                waits("cudaEventSynchronize", 100, 300 * ms, 30 * ms)};
  auto const given = give_advice(facts, {});
  REQUIRE(given.findings.size() == 2);
  CHECK(given.findings[0].gain.high_ns == Approx(200 * ms));
  CHECK(given.findings[1].gain.high_ns == Approx(30 * ms));  // what is sure stays
  CHECK(given.findings[1].arithmetic.find("without what other findings") != std::string::npos);
}

TEST_CASE("a skipped rule leaves its time to the others") {
  auto facts = made_run(500 * ms, time_bucket::launch_bound, 950 * ms);
  facts.gaps = {gaps(time_bucket::launch_bound, 100'000, 500 * ms)};
  facts.run.launch_distance = 5 * us;
  facts.run.kernel_length = 1 * us;
  facts.steps.items = 100'000;
  facts.sequences = {{.kernels = {"a"},
                      .length = 20,
                      .repetitions = 1000,
                      .range = "step",
                      .run_ns = 950 * ms,
                      .busy_ns = 450 * ms}};
  CHECK(give_advice(facts, {}).findings.at(0).rule == "cuda_graph");
  auto const given = give_advice(facts, {.only = {}, .skipped = {"cuda_graph"}});
  REQUIRE(given.findings.size() == 1);
  CHECK(given.findings[0].rule == "launch_bound");
}

TEST_CASE("every rule states its question, when it fires, its formula and what to run next") {
  std::set<std::string_view> names;
  for (auto const* one : all_rules()) {
    INFO(one->name);
    CHECK(names.insert(one->name).second);
    CHECK(one->question.ends_with("?"));
    CHECK_FALSE(one->fires_at.empty());
    CHECK_FALSE(one->gain.empty());
    CHECK_FALSE(one->ignores.empty());
    CHECK_FALSE(one->next.empty());
    CHECK(one->look != nullptr);
  }
  CHECK(names.size() >= 21);
}

TEST_CASE("a run without GPU work yields no finding, no crash") {
  run_facts facts;
  facts.there = everything();
  auto const given = give_advice(facts, {});
  CHECK(given.findings.empty());
  CHECK(given.best_case_ns == 0);
}

TEST_CASE("arithmetic that does not lead to its gain is found") {
  finding one;
  one.gain = {0, 650 * ms};
  auto const fault = [&](std::string text) {
    one.arithmetic = std::move(text);
    return test::fault_of_arithmetic(one);
  };
  CHECK(fault("high: time x (1 - blocks / SMs) = 794 ms x (1 - 24 / 132); low: 0, for the work may "
              "not be divisible; gain: 0 to 650 ms") == "");
  CHECK(fault("high: time x (1 - blocks / SMs) = 794 ms x (1 - 24 / 132); low: 0; gain: 0 to 580 "
              "ms; at most what is left: 0 to 650 ms") == "its product is another high gain");
  CHECK(fault("half of the 0 launches would free the thread for 0.0 ns") ==
        "it does not end with a gain");
  CHECK(fault("12 gaps of 55 ms; gain: 0 to 580 ms") == "it ends with another high gain");
  CHECK(fault("12 gaps of 55 ms; gain: 580 ms to 650 ms") == "it ends with another low gain");
  one.gain = {};
  CHECK(fault("no gain is claimed: it is what full load does") == "");
}

TEST_CASE("shares are of the time without counter readings") {
  auto facts = made_run(300 * ms, time_bucket::launch_bound);
  CHECK(give_advice(facts, {}).own_windows_ns == Approx(1000 * ms));
  auto& ledger = facts.devices[0].ledger;
  ledger[time_bucket::profiler] = 200 * ms;
  ledger[time_bucket::launch_bound] -= 200 * ms;
  CHECK(give_advice(facts, {}).own_windows_ns == Approx(800 * ms));
}

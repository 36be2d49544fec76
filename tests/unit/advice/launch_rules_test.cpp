// SPDX-License-Identifier: Apache-2.0
#include "made_run.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;

namespace {

sequence_facts sequence(std::size_t length, std::uint64_t repetitions, double run, double busy) {
  sequence_facts one;
  one.kernels = {"mul", "add"};
  one.length = length;
  one.repetitions = repetitions;
  one.run_ns = run;
  one.busy_ns = busy;
  one.range = "step";
  return one;
}

run_facts tiny_kernels() {
  auto facts = made_run(500 * ms, time_bucket::launch_bound, 950 * ms);
  facts.gaps = {gaps(time_bucket::launch_bound, 200'000, 500 * ms)};
  facts.run.launch_distance = 4 * us;
  facts.run.kernel_length = 2 * us;
  facts.steps.items = 200'000;
  facts.steps.busy_ns = 400 * ms;
  return facts;
}

run_facts loads(std::uint64_t count, double each) {
  auto facts = made_run(800 * ms, time_bucket::module_load);
  facts.calls = {{.name = "cuModuleLoadData",
                  .kind = call_kind::load_module,
                  .range = "step",
                  .count = count + 5,
                  .after_warm_up = count,
                  .after_warm_up_ns = static_cast<double>(count) * each}};
  facts.gaps = {gaps(time_bucket::module_load, count, 200 * ms, 150 * ms)};
  return facts;
}

}  // namespace

TEST_CASE(
    "a sequence with idle time is worth a graph: it saves the run minus busy time and nodes") {
  auto facts = made_run(500 * ms, time_bucket::launch_bound);
  facts.sequences = {sequence(100, 1000, 900 * ms, 500 * ms)};
  auto const found = found_by("cuda_graph", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(400 * ms));  // 900 - 500
  CHECK(found[0].gain.low_ns == 0);  // the CPU may have work of its own between the launches
  CHECK(found[0].range == "step");
  CHECK(found[0].kernel.empty());  // the gain is not one of its kernels
}

TEST_CASE("a graph may hold several repetitions, and its gain excludes the cost of recording") {
  auto facts = made_run(500 * ms, time_bucket::launch_bound);
  facts.sequences = {sequence(100, 1000, 900 * ms, 500 * ms)};
  facts.sequences[0].between_ns = 50 * ms;
  CHECK(found_by("cuda_graph", facts).at(0).gain.high_ns == Approx(450 * ms));
  facts.own_ns_a_launch = 1 * us;  // 100'000 launches
  CHECK(found_by("cuda_graph", facts).at(0).gain.high_ns == Approx(350 * ms));
}

TEST_CASE("gains exclude the time that recording adds to launches the GPU waits for") {
  auto facts = tiny_kernels();  // 200'000 launches
  facts.own_ns_a_launch = 1 * us;
  facts.sequences = {sequence(100, 1000, 500 * ms, 100 * ms)};
  auto const advice = give_advice(facts, {});
  REQUIRE(advice.findings.size() == 1);
  CHECK(advice.findings[0].rule == "cuda_graph");
  CHECK(advice.findings[0].gain.high_ns == Approx(300 * ms));
  REQUIRE_FALSE(advice.too_small.empty());
  CHECK(advice.too_small[0].rule == "launch_bound");
  // C' = 950 - 100'000 x (4 - 1) us = 650
  facts.sequences.clear();
  facts.gaps[0].count = 10'000;
  CHECK(found_by("launch_bound", facts).at(0).gain.high_ns == Approx(350 * ms));
}

TEST_CASE("a graph takes the time of its nodes if these take longer than the kernels") {
  auto facts = made_run(100 * ms, time_bucket::launch_bound);
  facts.sequences = {sequence(100, 10'000, 900 * ms, 100 * ms)};
  auto const found = found_by("cuda_graph", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(400 * ms));  // a million nodes take 500 ms
  CHECK(found[0].gain.low_ns == 0);
}

TEST_CASE("sequences that are short, rare, busy, or that wait are not reported for a graph") {
  auto const is_found = [](sequence_facts const& one) {
    auto facts = made_run(500 * ms, time_bucket::launch_bound);
    facts.sequences = {one};
    return !found_by("cuda_graph", facts).empty();
  };
  CHECK(is_found(sequence(5, 10, 500 * ms, 440 * ms)));
  CHECK_FALSE(is_found(sequence(4, 10, 500 * ms, 440 * ms)));
  CHECK_FALSE(is_found(sequence(5, 9, 500 * ms, 440 * ms)));
  CHECK_FALSE(is_found(sequence(5, 10, 500 * ms, 451 * ms)));
  auto waiting = sequence(5, 10, 500 * ms, 440 * ms);
  waiting.has_waits = true;
  CHECK_FALSE(is_found(waiting));
}

TEST_CASE("tiny kernels: half the launches relieve the thread, down to the time the GPU needs") {
  auto const facts = tiny_kernels();
  auto const found = found_by("launch_bound", facts);
  REQUIRE(found.size() == 1);
  // C' = 950 - 100'000 x 4 us = 550, B' = 400 + 100'000 x 1 us = 500: 1000 - 550 of 500 idle.
  CHECK(found[0].gain.high_ns == Approx(450 * ms));
  CHECK(found[0].gain.low_ns == 0);
  CHECK(found[0].range == "forward");
  CHECK(found[0].kernel.empty());  // the gain is not one of its kernels
}

TEST_CASE("launches are counted in the kernels where steps cover too little of the run") {
  auto facts = tiny_kernels();
  facts.steps.period_ns.resize(10);
  facts.kernels.emplace_back().launches = 150'000;
  auto const found = found_by("launch_bound", facts);
  REQUIRE(found.size() == 1);
  INFO(found[0].arithmetic);
  CHECK(found[0].arithmetic.find("half of the 150000 launches") != std::string::npos);
  CHECK(found[0].arithmetic.find(" 0.0 ns") == std::string::npos);
}

TEST_CASE(
    "kernels as long as the launch interval, or with little idle time, are not launch-bound") {
  auto facts = tiny_kernels();
  facts.run.kernel_length = 3 * us;  // and a pause of 1
  CHECK(found_by("launch_bound", facts).empty());
  facts = tiny_kernels();
  facts.gaps[0].idle_ns = 99 * ms;
  CHECK(found_by("launch_bound", facts).empty());
  facts.gaps[0].idle_ns = 101 * ms;
  CHECK(found_by("launch_bound", facts).size() == 1);
}

TEST_CASE("idle time before graphs does not count as launches of tiny kernels") {
  auto facts = tiny_kernels();
  REQUIRE(found_by("launch_bound", facts).size() == 1);
  facts.gaps[0].before_graph = true;
  CHECK(found_by("launch_bound", facts).empty());
}

TEST_CASE("if a graph fits it comes first, and launch_bound gets the rest") {
  auto facts = tiny_kernels();
  facts.sequences = {sequence(100, 1000, 500 * ms, 100 * ms)};
  auto const advice = give_advice(facts, {});
  REQUIRE(advice.findings.size() == 2);
  CHECK(advice.findings[0].rule == "cuda_graph");
  CHECK(advice.findings[0].gain.high_ns == Approx(400 * ms));
  CHECK(advice.findings[1].rule == "launch_bound");
  CHECK(advice.findings[1].gain.high_ns == Approx(100 * ms));
  CHECK(advice.best_case_ns == Approx(500 * ms));
}

TEST_CASE("late starts count if they are twice what the machine can do") {
  auto facts = made_run(800 * ms, time_bucket::launch_bound);
  facts.gaps = {gaps(time_bucket::launch_bound, 10'000, 200 * ms)};
  facts.run.start_delay = 11 * us;
  CHECK(found_by("launch_latency", facts).empty());
  facts.run.start_delay = 16 * us;
  auto const found = found_by("launch_latency", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(100 * ms));  // 10'000 x (16 - 6) us
}

TEST_CASE("modules loaded in the steady state are found though each loads once") {
  auto const found = found_by("late_module_load", loads(2, 80 * ms));
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(150 * ms));
  CHECK(found[0].gain.high_ns == Approx(200 * ms));
  CHECK(found[0].call == "cuModuleLoadData");
  CHECK(found_by("late_module_load", loads(200, 0.9 * ms)).empty());
}

TEST_CASE("graphs built after warm-up cost the idle time behind the calls") {
  auto facts = made_run(700 * ms, time_bucket::graph_build, 600 * ms);
  facts.gaps = {gaps(time_bucket::graph_build, 50, 300 * ms, 200 * ms)};
  CHECK(found_by("graph_rebuild", facts).empty());  // only in warm-up
  facts.calls = {{.name = "cudaGraphInstantiate",
                  .kind = call_kind::build_graph,
                  .range = "step",
                  .count = 51,
                  .after_warm_up = 50,
                  .after_warm_up_ns = 250 * ms}};
  auto const found = found_by("graph_rebuild", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(200 * ms));
  CHECK(found[0].gain.high_ns == Approx(300 * ms));
}

TEST_CASE("each remaining cause of idle time is reported from 2 % on, range by range") {
  for (auto const cause : {time_bucket::cpu_work, time_bucket::host_unknown,
                           time_bucket::dependency, time_bucket::between_steps}) {
    auto facts = made_run(900 * ms, cause, 500 * ms);
    facts.gaps = {gaps(cause, 100, 21 * ms), gaps(cause, 100, 19 * ms)};
    facts.gaps[1].range = "backward";
    auto const found = found_by("gpu_idle", facts);
    REQUIRE(found.size() == 1);
    CHECK(found[0].range == "forward");
    CHECK(found[0].gain.high_ns == Approx(21 * ms));
    CHECK(found[0].bucket == cause);
  }
}

TEST_CASE("CPU work that another thread takes over frees the launching thread") {
  auto facts = made_run(400 * ms, time_bucket::cpu_work, 1000 * ms);
  facts.gaps = {gaps(time_bucket::cpu_work, 100, 300 * ms)};
  auto const found = found_by("gpu_idle", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(300 * ms));  // C' = 700
  CHECK(found[0].gain.low_ns == 0);
}

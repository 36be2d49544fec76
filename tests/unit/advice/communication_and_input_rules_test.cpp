// SPDX-License-Identifier: Apache-2.0
#include "made_run.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;

namespace {

run_facts reducing(double alone) {
  auto facts = made_run(600 * ms, time_bucket::communication);
  facts.steps.busy_ns = 1000 * ms;
  facts.communication = {
      {.name = "ncclAllReduce", .count = 100, .total_ns = 500 * ms, .alone_ns = alone}};
  return facts;
}

}  // namespace

TEST_CASE("the gain of hidden communication includes the slowdown that this capture shows") {
  auto facts = reducing(300 * ms);
  CHECK(found_by("exposed_comm", facts).at(0).gain.high_ns == Approx(300 * ms));  // at best
  facts.communication[0].mean_ns_alone = 3 * ms;
  facts.communication[0].mean_ns_beside = 3.3 * ms;
  auto const found = found_by("exposed_comm", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(270 * ms));
  CHECK(found[0].gain.low_ns == 0);
  CHECK(found[0].kernel == "ncclAllReduce");
}

TEST_CASE("communication cannot hide behind more compute time than there is") {
  auto facts = reducing(300 * ms);
  facts.devices[0].ledger[time_bucket::compute] = 100 * ms;
  CHECK(found_by("exposed_comm", facts).at(0).gain.high_ns == Approx(100 * ms));
  CHECK(found_by("exposed_comm", reducing(19 * ms)).empty());
}

TEST_CASE("a transfer below 0.6 of the measured peer rate is slow") {
  auto facts = reducing(250 * ms);
  facts.communication[0].bytes = 20e9;  // 40 GB/s of 100
  auto const found = found_by("slow_link", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(150 * ms));  // half of 500 - 200
  facts.communication[0].bytes = 30e9;
  CHECK(found_by("slow_link", facts).empty());
  facts.communication[0].bytes = 0;  // not known
  CHECK(found_by("slow_link", facts).empty());
}

TEST_CASE("loading data beside the loop saves at least what one worker saves") {
  auto facts = made_run(400 * ms, time_bucket::data_loading, 900 * ms);
  facts.gaps = {gaps(time_bucket::data_loading, 100, 600 * ms)};
  facts.steps.loading_ns = 700 * ms;
  auto const found = found_by("data_loading", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(300 * ms));   // one worker takes 700
  CHECK(found[0].gain.high_ns == Approx(600 * ms));  // then the GPU's 400
}

TEST_CASE("steps are uneven from 1.2 times the median on, and the cause is named") {
  auto facts = made_run(1000 * ms, time_bucket::cpu_work);
  auto& steps = facts.steps;
  steps.gpu_ns.assign(100, 9 * ms);
  for (std::size_t i = 0; i < 100; i += 7) {
    steps.period_ns[i] = 15 * ms;
    steps.gpu_ns[i] = 14.5 * ms;
  }
  steps.slow[time_bucket::compute] = 14 * ms;
  steps.usual[time_bucket::compute] = 9 * ms;
  auto found = found_by("uneven_steps", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].instances == 14);  // the first is warm-up
  CHECK(found[0].gain.high_ns == Approx(70 * ms));
  CHECK(found[0].bucket == time_bucket::compute);
  auto const uneven = steps.gpu_ns;
  steps.gpu_ns.assign(100, 10 * ms);  // the GPU's steps are even
  steps.gpu_ns[49] = 400 * ms;        // but for one of the slow ones
  CHECK(found_by("uneven_steps", facts).empty());
  steps.gpu_ns = uneven;
  for (auto& period : steps.period_ns) period = period > 10 * ms ? 12 * ms : period;
  CHECK(found_by("uneven_steps", facts).empty());
}

TEST_CASE("steps that grow are told with what grows, not as uneven") {
  auto facts = made_run(1000 * ms, time_bucket::cpu_work);
  auto& steps = facts.steps;
  steps.busy_of_step_ns.clear();
  for (std::size_t i = 0; i < 100; ++i) {
    steps.busy_of_step_ns.push_back((5 + 0.1 * static_cast<double>(i)) * ms);
    steps.period_ns[i] = steps.busy_of_step_ns[i];
  }
  facts.growing = {"CatArrayBatchedCopy"};
  auto const found = found_by("growing_steps", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].what.starts_with("the GPU time of a step grows from 5.5 ms to "));
  CHECK(found[0].what.ends_with(" in CatArrayBatchedCopy"));
  CHECK(found[0].gain.low_ns == 0);
  CHECK(found[0].gain.high_ns == Approx(450.5 * ms).epsilon(0.05));
  CHECK(found_by("uneven_steps", facts).empty());
  std::swap(steps.busy_of_step_ns[0],
            steps.busy_of_step_ns[99]);  // one long step is no growth, nor is a slow one
  CHECK(found_by("growing_steps", facts).size() == 1);
  for (std::size_t i = 0; i < 100; ++i) steps.busy_of_step_ns[i] = (i % 2 == 0 ? 9 : 12) * ms;
  CHECK(found_by("growing_steps", facts).empty());
  for (std::size_t i = 0; i < 100; ++i) steps.busy_of_step_ns[i] = (10 + 0.01 * double(i)) * ms;
  CHECK(found_by("growing_steps", facts).empty());  // by less than a fifth
}

TEST_CASE("uneven steps are reported only for time that no other finding explains") {
  auto facts = made_run(800 * ms, time_bucket::module_load);
  for (std::size_t i = 1; i < 100; i += 7) facts.steps.period_ns[i] = 25 * ms;
  facts.steps.slow[time_bucket::module_load] = 24 * ms;
  facts.steps.usual[time_bucket::module_load] = 9 * ms;
  facts.calls = {{.name = "cuModuleLoadData",
                  .kind = call_kind::load_module,
                  .range = "step",
                  .count = 15,
                  .after_warm_up = 15,
                  .after_warm_up_ns = 190 * ms}};
  facts.gaps = {gaps(time_bucket::module_load, 15, 180 * ms, 170 * ms)};
  auto const found = give_advice(facts, {}).findings;
  REQUIRE(found.size() == 2);
  CHECK(found[0].rule == "late_module_load");  // though the steps lose more
  CHECK(found[0].gain.high_ns == Approx(180 * ms));
  CHECK(found[1].rule == "uneven_steps");
  CHECK(found[1].gain.high_ns == Approx(20 * ms));
}

// SPDX-License-Identifier: Apache-2.0
#include "host/advice/step_bound.hpp"

#include "made_run.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::advice;

namespace {
step_bound const bound{.period_ns = 100, .busy_ns = 50, .host_ns = 70, .items = 10, .pause_ns = 1};
}

TEST_CASE("waits cost the time of a step beyond the longer of GPU and thread") {
  CHECK(bound.gpu_ns() == 60);
  CHECK(bound.launches_hold());
  CHECK(bound.excess() == 30);
}

TEST_CASE("less GPU time saves nothing if the step waits for the thread") {
  CHECK(bound.saved_by({.busy_ns = 20}) == 30);
  CHECK(bound.saved_by({.host_ns = 20}) == 40);                  // now the GPU holds: 60
  CHECK(bound.saved_by({.host_ns = 20, .items = 5}) == 45);      // five pauses fewer
  CHECK(bound.saved_by({.host_ns = 70, .other_ns = 90}) == 10);  // a loader that takes 90
}

TEST_CASE(
    "a gain exceeds neither the claim nor what steps allow, and its low end is the certain part") {
  CHECK(bound.gain(10, 4).low_ns == 4);
  CHECK(bound.gain(10, 4).high_ns == 10);
  CHECK(bound.gain(80, 4).high_ns == 30);
  CHECK(bound.gain(80, 40).high_ns == 40);
  CHECK(bound.gain(10, 40).low_ns == 10);
}

TEST_CASE("without steps the whole window counts as one step, and GPUs add up") {
  auto facts = made_run(600 * ms, time_bucket::cpu_work, 300 * ms);
  CHECK(bound_of(facts).excess() == 400 * ms);
  facts.steps = {};
  facts.steps.launching_thread_ns = 700 * ms;
  CHECK(bound_of(facts).excess() == 300 * ms);
  facts.devices.push_back(facts.devices.front());
  CHECK(bound_of(facts).period_ns == 2000 * ms);
  CHECK(bound_of(facts).excess() == 600 * ms);
}

TEST_CASE("steps that cover little of the window do not stand for the rest") {
  auto facts = made_run(600 * ms, time_bucket::cpu_work, 90 * ms);
  facts.steps.period_ns.resize(10);
  CHECK(bound_of(facts).period_ns == 1000 * ms);
  CHECK(bound_of(facts).excess() == 400 * ms);
}

// SPDX-License-Identifier: Apache-2.0
// When captures start and end: every way to ask, with a clock of the test's own.
#include "guest/options/capture_plan.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr std::uint64_t s = 1'000'000'000;

settings with_range(capture_range range, range_end_action action, std::uint32_t count = 0) {
  settings options;
  options.range = range;
  options.range_end = {action, count};
  return options;
}

/// What torch.profiler.schedule() answers for a step, by its definition; 'R' for RECORD and
/// RECORD_AND_SAVE.
char torch_says(step_schedule const& schedule, unsigned step) {
  if (step < schedule.skip_first) return '.';
  step -= schedule.skip_first;
  auto const cycle = schedule.wait + schedule.warmup + schedule.active;
  if (schedule.repeat > 0 && step / cycle >= schedule.repeat) return '.';
  auto const inside = step % cycle;
  if (inside < schedule.wait) return '.';
  return inside < schedule.wait + schedule.warmup ? 'w' : 'R';
}

char state_of(capture_plan const& plan) {
  return plan.wanted() ? 'R' : plan.warming_up() ? 'w' : '.';
}

}  // namespace

TEST_CASE("without options a capture runs from the start, once") {
  settings const options;
  capture_plan plan(options);
  CHECK_FALSE(plan.wanted());
  CHECK_FALSE(plan.armed());
  plan.begin(1 * s);
  CHECK(plan.wanted());
  CHECK(plan.count() == 1);
  CHECK(plan.trigger() == "start");
  CHECK(plan.next_deadline() == 0);
  CHECK_FALSE(plan.needs_cuda_profiler_calls());
  plan.begin(2 * s);
  plan.tick(1000 * s);
  CHECK(plan.wanted());
  CHECK(plan.count() == 1);
}

TEST_CASE("a delay counts from the process's first sign of CUDA or NVTX") {
  settings options;
  options.delay.value = 2 * s;
  capture_plan plan(options);
  plan.begin(10 * s);
  CHECK_FALSE(plan.wanted());
  CHECK(plan.armed());
  CHECK(plan.next_deadline() == 12 * s);
  plan.tick(12 * s - 1);
  CHECK_FALSE(plan.wanted());
  plan.tick(12 * s);
  CHECK(plan.wanted());
  CHECK(plan.trigger() == "delay");
  CHECK_FALSE(plan.armed());
}

TEST_CASE("a duration counts from the capture's start, and no other capture follows") {
  settings options;
  options.delay.value = 1 * s;
  options.duration.value = 3 * s;
  capture_plan plan(options);
  plan.begin(0);
  plan.tick(5 * s);
  CHECK(plan.next_deadline() == 8 * s);
  plan.tick(8 * s - 1);
  CHECK(plan.wanted());
  plan.tick(8 * s);
  CHECK_FALSE(plan.wanted());
  CHECK_FALSE(plan.armed());
  CHECK(plan.next_deadline() == 0);
  plan.tick(100 * s);
  CHECK(plan.count() == 1);
}

TEST_CASE("profiler calls and ranges start captures only if that was requested") {
  for (auto const range :
       {capture_range::none, capture_range::cuda_profiler_api, capture_range::nvtx}) {
    auto const options = with_range(range, range_end_action::repeat);
    capture_plan plan(options);
    plan.begin(0);
    auto const at_once = range == capture_range::none;
    CHECK(plan.wanted() == at_once);
    plan.profiler_start(1);
    CHECK(plan.wanted() == (at_once || range == capture_range::cuda_profiler_api));
    plan.profiler_stop(2);
    CHECK(plan.wanted() == at_once);
    plan.range_entered(3);
    CHECK(plan.wanted() == (at_once || range == capture_range::nvtx));
    plan.range_left(4);
    CHECK(plan.wanted() == at_once);
  }
}

TEST_CASE("each action at the end of a range works, over three ranges and more") {
  struct expectation {
    range_end_action action;
    std::uint32_t count;
    std::string states;  // after each start, stop of four ranges
    std::uint32_t captures;
    bool shuts_down;
  };
  std::vector<expectation> const all = {
      {range_end_action::none, 0, "RRRRRRRR", 1, false},
      {range_end_action::stop, 0, "R.......", 1, false},
      {range_end_action::stop_shutdown, 0, "R.......", 1, true},
      {range_end_action::repeat, 0, "R.R.R.R.", 4, false},
      {range_end_action::repeat, 2, "R.R.....", 2, false},
      {range_end_action::repeat_shutdown, 3, "R.R.R...", 3, true},
      {range_end_action::repeat, 1, "R.......", 1, false},
  };
  for (auto const range : {capture_range::cuda_profiler_api, capture_range::nvtx}) {
    for (auto const& e : all) {
      auto const options = with_range(range, e.action, e.count);
      capture_plan plan(options);
      plan.begin(0);
      CHECK(plan.armed());
      std::string states;
      for (int i = 0; i < 4; ++i) {
        range == capture_range::nvtx ? plan.range_entered(1) : plan.profiler_start(1);
        states += state_of(plan);
        range == capture_range::nvtx ? plan.range_left(2) : plan.profiler_stop(2);
        states += state_of(plan);
      }
      INFO("action " << static_cast<int>(e.action) << ", count " << e.count);
      CHECK(states == e.states);
      CHECK(plan.count() == e.captures);
      CHECK(plan.wants_shutdown() == e.shuts_down);
    }
  }
}

TEST_CASE("repeat-shutdown ends the process after the last capture, not before") {
  auto const options = with_range(capture_range::nvtx, range_end_action::repeat_shutdown, 2);
  capture_plan plan(options);
  plan.begin(0);
  plan.range_entered(1);
  plan.range_left(2);
  CHECK_FALSE(plan.wants_shutdown());
  CHECK(plan.armed());
  plan.range_entered(3);
  plan.range_left(4);
  CHECK(plan.wants_shutdown());
  CHECK_FALSE(plan.armed());
}

TEST_CASE("CUPTI reports profiler calls while one may still come") {
  auto const options = with_range(capture_range::cuda_profiler_api, range_end_action::stop);
  capture_plan plan(options);
  CHECK(plan.needs_cuda_profiler_calls());
  plan.begin(0);
  plan.profiler_start(1);
  CHECK(plan.needs_cuda_profiler_calls());
  plan.profiler_stop(2);
  CHECK_FALSE(plan.needs_cuda_profiler_calls());
}

TEST_CASE("ranges before the delay is over start nothing") {
  auto options = with_range(capture_range::nvtx, range_end_action::stop);
  options.delay.value = 2 * s;
  capture_plan plan(options);
  plan.range_entered(0);  // not even begun
  plan.begin(1 * s);
  plan.range_entered(2 * s);
  CHECK_FALSE(plan.wanted());
  plan.range_left(2 * s);
  plan.range_entered(3 * s);
  CHECK(plan.wanted());
  CHECK(plan.trigger() == "NVTX range");
}

TEST_CASE("a duration that ends inside a range ends its capture in the same way as the range") {
  for (auto const action : {range_end_action::stop, range_end_action::repeat}) {
    auto options = with_range(capture_range::nvtx, action);
    options.duration.value = 1 * s;
    capture_plan plan(options);
    plan.begin(0);
    plan.range_entered(1 * s);
    plan.tick(2 * s);
    CHECK_FALSE(plan.wanted());
    plan.range_left(3 * s);
    plan.range_entered(4 * s);
    CHECK(plan.wanted() == (action == range_end_action::repeat));
  }
}

TEST_CASE("a duration is the only end of a capture whose range end is ignored") {
  auto options = with_range(capture_range::nvtx, range_end_action::none);
  options.duration.value = 1 * s;
  capture_plan plan(options);
  plan.begin(0);
  plan.range_entered(1 * s);
  plan.range_left(1 * s + 1);
  CHECK(plan.wanted());
  plan.tick(2 * s);
  CHECK_FALSE(plan.wanted());
  plan.range_entered(3 * s);
  CHECK_FALSE(plan.wanted());
}

TEST_CASE("schedules treat every step in the same way as torch.profiler") {
  std::vector<step_schedule> const schedules = {
      {0, 0, 1, 1, 0}, {1, 1, 3, 1, 0}, {2, 1, 2, 2, 0}, {0, 2, 1, 0, 0}, {1, 0, 1, 3, 4},
      {3, 2, 1, 0, 5}, {0, 0, 2, 2, 0}, {1, 1, 1, 1, 1}, {0, 1, 4, 0, 2}, {5, 0, 1, 1, 0},
  };
  for (auto const& schedule : schedules) {
    settings options;
    options.schedule = schedule;
    capture_plan plan(options);
    plan.begin(0);
    std::string ours, theirs;
    for (unsigned step = 0; step < 40; ++step) {
      ours += state_of(plan);
      theirs += torch_says(schedule, step);
      plan.step(step);
    }
    INFO("wait " << schedule.wait << " warmup " << schedule.warmup << " active " << schedule.active
                 << " repeat " << schedule.repeat << " skip_first " << schedule.skip_first);
    CHECK(ours == theirs);
  }
}

TEST_CASE("each cycle of a schedule is its own capture, even if one follows directly on another") {
  settings options;
  options.schedule = step_schedule{0, 0, 2, 3, 0};
  capture_plan plan(options);
  plan.begin(0);
  std::vector<std::uint32_t> counts;
  for (int step = 0; step < 8; ++step) {
    counts.push_back(plan.count());
    plan.step(0);
  }
  CHECK(counts == std::vector<std::uint32_t>{1, 1, 2, 2, 3, 3, 3, 3});
  CHECK_FALSE(plan.wanted());
  CHECK_FALSE(plan.armed());
}

TEST_CASE("captures of a schedule have the number of their first step, and stay armed in between") {
  settings options;
  options.schedule = step_schedule{1, 1, 1, 2, 0};
  capture_plan plan(options);
  plan.begin(0);
  CHECK(plan.armed());
  plan.step(0);
  CHECK(plan.warming_up());
  plan.step(0);
  CHECK(plan.trigger() == "step 2");
  plan.step(0);
  CHECK(plan.armed());
  for (int i = 0; i < 5; ++i) plan.step(0);
  CHECK_FALSE(plan.armed());
}

TEST_CASE("steps taken before CUDA is up count") {
  settings options;
  options.schedule = step_schedule{2, 0, 1, 1, 0};
  capture_plan plan(options);
  plan.step(0);
  plan.step(0);
  plan.begin(0);
  CHECK(plan.wanted());
}

TEST_CASE(
    "a duration that runs out in a schedule's capture does not start it again in this cycle") {
  settings options;
  options.schedule = step_schedule{1, 0, 3, 2, 0};
  options.duration.value = 1 * s;
  capture_plan plan(options);
  plan.begin(0);
  plan.step(1 * s);
  CHECK(plan.wanted());
  plan.tick(2 * s);
  CHECK_FALSE(plan.wanted());
  plan.step(3 * s);
  plan.step(3 * s);
  CHECK_FALSE(plan.wanted());
  plan.step(4 * s);  // the wait of the next cycle
  plan.step(4 * s);
  CHECK(plan.wanted());
  CHECK(plan.count() == 2);
}

TEST_CASE("steps without a schedule change nothing") {
  settings const options;
  capture_plan plan(options);
  plan.begin(0);
  for (int i = 0; i < 10; ++i) plan.step(i);
  CHECK(plan.wanted());
  CHECK(plan.count() == 1);
}

TEST_CASE("the program may start and stop any number of times") {
  settings const options;
  capture_plan plan(options);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    plan.api_start(i);
    CHECK(plan.wanted());
    plan.api_start(i);  // twice is no error
    plan.api_stop(i);
    CHECK_FALSE(plan.wanted());
    CHECK_FALSE(plan.armed());
    plan.api_stop(i);
    plan.tick(i);
    CHECK_FALSE(plan.wanted());
    CHECK(plan.count() == i);
  }
}

TEST_CASE("the program's start does not wait for a delay") {
  settings options;
  options.delay.value = 100 * s;
  capture_plan plan(options);
  plan.api_start(1 * s);
  CHECK(plan.wanted());
  CHECK(plan.trigger() == "gpuprof_start");
}

TEST_CASE("after the program's stop a range can still start a capture") {
  auto const options = with_range(capture_range::nvtx, range_end_action::repeat);
  capture_plan plan(options);
  plan.api_start(0);
  plan.api_stop(1);
  CHECK(plan.armed());
  plan.range_entered(2);
  CHECK(plan.wanted());
  CHECK(plan.count() == 2);
}

TEST_CASE("a plan that was given up starts only on request of the program") {
  auto scheduled = settings{};
  scheduled.schedule = step_schedule{.wait = 1, .warmup = 1, .active = 1, .repeat = 0};
  for (auto const& options :
       {settings{}, with_range(capture_range::cuda_profiler_api, range_end_action::repeat),
        with_range(capture_range::nvtx, range_end_action::stop_shutdown), scheduled}) {
    capture_plan plan(options);
    plan.begin(1 * s);
    plan.profiler_start(2 * s);
    plan.range_entered(2 * s);
    plan.step(2 * s);
    plan.step(2 * s);
    CHECK(plan.wanted());
    auto const captures = plan.count();
    plan.give_up();
    CHECK(plan.gave_up());
    CHECK_FALSE(plan.wanted());
    plan.profiler_stop(3 * s);
    plan.range_left(3 * s);
    plan.profiler_start(4 * s);
    plan.range_entered(4 * s);
    for (int step = 0; step < 10; ++step) plan.step(4 * s);
    plan.tick(1000 * s);
    CHECK(state_of(plan) == '.');
    CHECK_FALSE(plan.armed());
    CHECK_FALSE(plan.needs_cuda_profiler_calls());
    CHECK_FALSE(plan.wants_shutdown());
    CHECK(plan.count() == captures);
    plan.api_start(1001 * s);
    CHECK(plan.wanted());
    CHECK_FALSE(plan.gave_up());
  }
}

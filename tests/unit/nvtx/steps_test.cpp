// SPDX-License-Identifier: Apache-2.0
// Steps that a thread counts with gpuprof_step(), as the drain thread sees them.
#include "guest/nvtx/log_writer.hpp"
#include "guest/nvtx/ranges.hpp"
#include "support/catch.hpp"
#include "unit/nvtx/seen.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

void next_step(thread_log& log) {
  end_step(log);
  begin_step(log);
}

}  // namespace

TEST_CASE(
    "each step ends the one before, the end of its thread ends the last; steps are numbered") {
  auto const found = run([](thread_log& log) {
    next_step(log);
    write_launch(log, now().value, correlation_id{7}, 0);
    next_step(log);
    next_step(log);
    log_is_recording = false;  // the last has its end all the same
  });
  CHECK(found.lines == lines{"begin step", "launch 7 in step", "end step", "begin step", "end step",
                             "begin step", "end step"});
  REQUIRE(found.begins.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    auto const& step = found.begins[i];
    CHECK(names().text(step.domain) == "gpuprof");
    CHECK(step.style == range_style::push_pop);
    CHECK(step.payload == payload_kind::unsigned64);
    CHECK(step.payload_bits == i + 1);
  }
}

TEST_CASE("steps are siblings inside the ranges open at the first, whatever ranges open later") {
  auto const found = run([](thread_log& log) {
    push_range(log, named("train"));
    for (int i = 0; i < 4; ++i) {
      push_range(log, named("batch"));
      next_step(log);  // at the end of a batch, inside of it
      pop_range(log, {});
    }
    pop_range(log, {});
    next_step(log);
    CHECK(log.ranges.size() == 1);
  });
  auto const train = found.begins[0].range, first_batch = found.begins[1].range;
  std::vector<range_id> parents;
  for (auto const& begin : found.begins)
    if (names().text(begin.name) == "step") parents.push_back(begin.parent);
  CHECK(parents == std::vector<range_id>{first_batch, {}, {}, {}, {}});

  auto const plain = run([](thread_log& log) {
    push_range(log, named("train"));
    for (int i = 0; i < 3; ++i) {
      next_step(log);
      push_range(log, named("batch"));
      pop_range(log, {});
    }
    pop_range(log, {});
  });
  CHECK(train != range_id{});
  for (auto const& begin : plain.begins) {
    auto const name = names().text(begin.name);
    if (name == "step") CHECK(begin.parent == plain.begins[0].range);
    if (name == "batch") CHECK(begin.level == 2);
  }
}

TEST_CASE(
    "steps are counted for each thread, and a thread that reuses a log starts at the first step") {
  std::vector<std::uint64_t> numbers;
  for (int thread = 0; thread < 2; ++thread)
    for (auto const& begin : run([](thread_log& log) {
                               next_step(log);
                               next_step(log);
                             }).begins)
      numbers.push_back(begin.payload_bits);
  CHECK(numbers == std::vector<std::uint64_t>{1, 2, 1, 2});
}

TEST_CASE("steps before a recording are not recorded, except the one that is open when it begins") {
  auto const found = run([](thread_log& log) {
    log_is_recording = false;
    for (int i = 0; i < 3; ++i) next_step(log);
    log_is_recording = true;
    next_step(log);
    log_is_recording = false;
    for (int i = 0; i < 3; ++i) next_step(log);
  });
  REQUIRE(found.begins.size() == 2);
  CHECK(found.begins[0].payload_bits == 3);
  CHECK(found.begins[1].payload_bits == 4);
  CHECK(found.ends.size() == 2);
}

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/ranks/collective_waits.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

occurrence collective(std::int64_t start_us, std::int64_t end_us, std::uint32_t step) {
  return {trace_start + duration_ns{start_us * 1000}, trace_start + duration_ns{end_us * 1000},
          step};
}

std::vector<waits_of_rank> step_waits_of(std::vector<collective_occurrences> const& ranks,
                                         std::vector<std::int64_t> ahead_ns) {
  std::vector<collective_occurrences const*> each;
  for (auto const& rank : ranks) each.push_back(&rank);
  clock_offsets clocks;
  clocks.of_rank = std::move(ahead_ns);
  return waits_by_step(each, clocks, 0);
}

}  // namespace

TEST_CASE("a rank waits until the last one begins and the wait counts in the step of the launch") {
  auto const waits = step_waits_of({{{"sum", {collective(0, 100, 0), collective(200, 300, 1)}}},
                                    {{"sum", {collective(30, 100, 0), collective(190, 300, 1)}}},
                                    {{"sum", {collective(10, 100, 0), collective(250, 300, 1)}}}},
                                   {0, 0, 0});
  REQUIRE(waits.size() == 3);
  CHECK(waits[0].by_step == std::vector<std::uint64_t>{30'000, 50'000});
  CHECK(waits[1].by_step == std::vector<std::uint64_t>{0, 60'000});
  CHECK(waits[2].by_step == std::vector<std::uint64_t>{20'000, 0});
}

TEST_CASE("waits of all collectives of a step add up, and those outside steps are separate") {
  auto const waits =
      step_waits_of({{{"sum", {collective(0, 100, no_step), collective(200, 300, 2)}},
                      {"gather", {collective(400, 500, 2)}}},
                     {{"sum", {collective(7, 100, 5), collective(210, 300, no_step)}},
                      {"gather", {collective(403, 500, 5)}}}},
                    {0, 0});
  CHECK(waits[0].by_step == std::vector<std::uint64_t>{0, 0, 13'000});
  CHECK(waits[0].outside_ns == 7'000);
  CHECK(waits[1].by_step == std::vector<std::uint64_t>(6, 0));
  CHECK(waits[1].outside_ns == 0);
}

TEST_CASE("all waits by step equal those of the collectives, by corrected clocks") {
  std::vector<collective_occurrences> const ranks = {
      {{"sum", {collective(0, 90, 0), collective(100, 190, 0), collective(200, 290, 1)}}},
      {{"sum", {collective(1020, 1090, 0), collective(1105, 1190, 1), collective(1200, 1290, 1)}}}};
  clock_offsets clocks;
  clocks.of_rank = {0, 1'000'000};
  std::vector<collective_occurrences const*> const each = {&ranks[0], &ranks[1]};
  std::uint64_t sum = 0;
  for (auto const& of : waits_by_step(each, clocks, 0)) {
    sum += of.outside_ns;
    for (auto const wait : of.by_step) sum += wait;
  }
  CHECK(sum == 25'000);
  CHECK(collective_waits(each, clocks, 0).front().wait_ns == sum);
}

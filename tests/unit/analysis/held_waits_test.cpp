// SPDX-License-Identifier: Apache-2.0
// Ranks wait in collectives for a rank that the profiler held.
#include "host/analysis/ranks/held_waits.hpp"

#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

using stretches = std::vector<std::pair<std::int64_t, std::int64_t>>;  // microseconds

timestamp_ns at(std::int64_t us) {
  return trace_start + duration_ns{us * 1000};
}

held_times held(stretches const& times) {
  std::vector<time_stretch> all;
  for (auto const& [begin, end] : times) all.push_back({at(begin), at(end)});
  return held_times(std::move(all));
}

stretches in_us(std::vector<time_stretch> const& times) {
  stretches all;
  for (auto const& one : times)
    all.emplace_back((one.begin - trace_start).value / 1000, (one.end - trace_start).value / 1000);
  return all;
}

/// The collectives of a test are each launched by a step of their own.
stretches in_us(std::vector<held_wait> const& waits, collective_occurrences const& ran) {
  std::vector<time_stretch> times;
  for (auto const& one : waits) {
    times.push_back(one.time);
    CHECK(ran.at("sum").at(one.step).end >= one.time.end);
    CHECK(ran.at("sum").at(one.step).start <= one.time.begin);
  }
  return in_us(times);
}

std::vector<stretches> waits(std::vector<stretches> const& ran, std::vector<stretches> const& holds,
                             std::vector<std::int64_t> ahead_ns = {}) {
  std::vector<collective_occurrences> ranks(ran.size());
  std::vector<held_times> held_of;
  for (std::size_t rank = 0; rank < ran.size(); ++rank) {
    auto& sums = ranks[rank]["sum"];
    for (auto const& [begin, end] : ran[rank])
      sums.push_back({at(begin), at(end), static_cast<std::uint32_t>(sums.size())});
    held_of.push_back(held(holds[rank]));
  }
  std::vector<collective_occurrences const*> each;
  for (auto const& rank : ranks) each.push_back(&rank);
  clock_offsets clocks;
  clocks.of_rank = ahead_ns.empty() ? std::vector<std::int64_t>(ran.size()) : ahead_ns;
  std::vector<stretches> found;
  for (auto const& of : waits_for_held(each, clocks, 0, held_of))
    found.push_back(in_us(of, ranks[found.size()]));
  return found;
}

}  // namespace

TEST_CASE("held times are added up without counting any twice") {
  auto const times = held({{50, 60}, {0, 10}, {5, 20}});
  CHECK(times.between(at(0), at(100)) == 30'000);
  CHECK(times.between(at(15), at(55)) == 10'000);
  CHECK(times.between(at(20), at(50)) == 0);
  CHECK(held_times().between(at(0), at(100)) == 0);
}

TEST_CASE("only held time in which no GPU worked counts") {
  held_idle_times idle(held({{0, 10}, {20, 50}, {90, 100}}));
  for (auto const& [begin, end] : stretches{{5, 25}, {8, 12}, {30, 40}, {45, 60}, {80, 85}})
    idle.add_work(at(begin), at(end));
  CHECK(in_us(idle.finish().all()) == stretches{{0, 5}, {25, 30}, {40, 45}});
}

TEST_CASE("ranks that wait for a held one do so until it would have begun, then for the profiler") {
  // The second rank would have begun at 130.
  CHECK(waits({{{100, 200}}, {{170, 200}}}, {{}, {{120, 160}}}) ==
        std::vector<stretches>{{{130, 170}}, {}});
  CHECK(waits({{{100, 200}}, {{170, 200}}}, {{}, {{50, 160}}}) ==
        std::vector<stretches>{{{100, 170}}, {}});
}

TEST_CASE("a rank that is late anyway leaves the profiler the rest") {
  // The third rank begins at 150, whatever the profiler does to the second.
  CHECK(waits({{{100, 200}}, {{170, 200}}, {{150, 200}}}, {{}, {{90, 160}}, {}}) ==
        std::vector<stretches>{{{150, 170}}, {}, {{150, 170}}});
}

TEST_CASE("holds before the last collective of a rank are over") {
  CHECK(waits({{{0, 50}, {100, 200}}, {{30, 50}, {170, 200}}}, {{}, {{10, 30}}}) ==
        std::vector<stretches>{{{10, 30}}, {}});
}

TEST_CASE("waits are in the clock of their rank") {
  CHECK(waits({{{100, 200}}, {{1170, 1200}}}, {{}, {{1120, 1160}}}, {0, 1'000'000}) ==
        std::vector<stretches>{{{130, 170}}, {}});
  CHECK(waits({{{1100, 1200}}, {{170, 200}}}, {{}, {{120, 160}}}, {1'000'000, 0}) ==
        std::vector<stretches>{{{1130, 1170}}, {}});
}

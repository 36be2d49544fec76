// SPDX-License-Identifier: Apache-2.0
#include "host/page/counter_tracks.hpp"
#include "support/catch.hpp"

#include <cmath>

using gpuprof::captured_chip_state;
using gpuprof::host::page::chip_state_tracks;

namespace {

constexpr std::uint64_t ms = 1'000'000;

captured_chip_state state(std::uint64_t time_ns, double watts, std::uint32_t device = 0) {
  captured_chip_state one;
  one.time_ns = time_ns;
  one.device = device;
  one.sm_clock_hz = 1'800'000'000;
  one.watts = watts;
  return one;
}

}  // namespace

TEST_CASE("a state lasts until the next one of its GPU, the last one until the end") {
  chip_state_tracks tracks(1000);
  tracks.add(state(0, 300));
  tracks.add(state(50 * ms, 500, 1));
  tracks.add(state(100 * ms, 600));
  tracks.finish(150 * ms, 1000);
  auto const& gpu = tracks.devices().at(0);
  auto const points = gpu.series.points();
  REQUIRE(points.size() == 2);
  CHECK(points[0].length_ns == 100 * ms);
  CHECK(points[1].length_ns == 50 * ms);
  CHECK(gpu.tracks[0].name == "Power");
  CHECK(gpu.series.values(0)[0].mean == Approx(300));
  CHECK(gpu.series.values(0)[1].mean == Approx(600));
  CHECK(gpu.series.values(1)[0].mean == Approx(1.8e9));
  CHECK(tracks.devices().at(1).series.values(0)[0].mean == Approx(500));
}

TEST_CASE("nothing is drawn between captures, or for values that NVML did not give") {
  chip_state_tracks tracks(1000);
  tracks.add(state(0, 300));
  tracks.add(state(5000 * ms, 0));
  tracks.finish(5100 * ms, 1000);
  auto const& gpu = tracks.devices().at(0);
  CHECK(gpu.series.points()[0].length_ns == 200 * ms);
  CHECK_FALSE(gpu.series.values(0)[1].is_there());  // power
  CHECK_FALSE(gpu.series.values(2)[0].is_there());  // temperature
}

TEST_CASE("states of all GPUs together have a limit") {
  chip_state_tracks tracks(100'000);
  for (std::uint64_t i = 0; i < 10'000; ++i)
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu)
      tracks.add(state(i * 100 * ms, 100 + 400 * (i % 2), gpu));
  tracks.finish(10'000 * 100 * ms, 24'000);
  std::size_t values = 0;
  for (auto const& [_, gpu] : tracks.devices())
    values += gpu.series.points().size() * gpu.tracks.size();
  CHECK(values <= 24'000);
  auto const first = tracks.devices().at(0).series.values(0)[0];
  CHECK(first.mean == Approx(300).epsilon(0.01));
  CHECK(first.least == 100);
  CHECK(first.greatest == 500);
}

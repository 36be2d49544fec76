// SPDX-License-Identifier: Apache-2.0
#include "host/page/counter_tracks.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <deque>
#include <string>

using gpuprof::host::page::counter_tracks;

namespace {

constexpr std::string_view active = "sm__cycles_active.avg",
                           elapsed = "sm__cycles_elapsed.avg.per_second",
                           tensor = "sm__pipe_tensor_cycles_active.avg",
                           bytes_read = "dram__bytes_read.sum", written = "dram__bytes_write.sum";

struct sampled_gpu {
  counter_tracks tracks{1000};

  void interval(std::uint64_t start,
                std::initializer_list<std::pair<std::string_view, double>> values,
                std::uint32_t device = 0) {
    for (auto const& [metric, value] : values) tracks.add({start, 20'000, device, metric, value});
  }
  /// The value of a track at its first point.
  double value(std::string_view name, std::uint32_t device = 0) {
    auto const& of = tracks.devices().at(device);
    auto const at = std::find_if(of.tracks.begin(), of.tracks.end(),
                                 [&](auto const& track) { return track.name == name; });
    REQUIRE(at != of.tracks.end());
    return of.series.values(static_cast<std::size_t>(at - of.tracks.begin()))[0].mean;
  }
};

}  // namespace

TEST_CASE("samples become shares of cycles, bytes a second and a clock") {
  sampled_gpu gpu;
  gpu.interval(
      0, {{active, 9000}, {elapsed, 1.8e9}, {tensor, 14'400}, {bytes_read, 2e6}, {written, 1e6}});
  gpu.tracks.finish(1000);
  CHECK(gpu.value("SM active") == Approx(25));
  CHECK(gpu.value("Tensor active") == Approx(10));
  CHECK(gpu.value("DRAM") == Approx(150e9));
  CHECK(gpu.value("SM clock") == Approx(1.8e9));
  auto const& tracks = gpu.tracks.devices().at(0).tracks;
  CHECK(std::all_of(tracks.begin(), tracks.end(), [](auto const& one) { return one.is_main; }));
  CHECK(tracks.size() == 4);
}

TEST_CASE("a share without its cycles, or at a clock of 0, has no track") {
  sampled_gpu gpu;
  gpu.interval(0, {{active, 9000}, {elapsed, 0}});
  gpu.interval(20'000, {{active, 9000}});
  gpu.tracks.finish(1000);
  auto const& tracks = gpu.tracks.devices().at(0).tracks;
  REQUIRE(tracks.size() == 1);
  CHECK(tracks[0].name == "SM clock");
}

TEST_CASE("other counters are shown unchanged, amounts per second") {
  sampled_gpu gpu;
  gpu.interval(0, {{"pcie__read_bytes.sum", 20'000},
                   {"l1tex__t_sector_hit_rate.pct", 40},
                   {"lts__t_sectors.sum.per_second", 7}});
  gpu.tracks.finish(1000);
  CHECK(gpu.value("pcie__read_bytes.sum") == Approx(1e9));
  CHECK(gpu.value("l1tex__t_sector_hit_rate.pct") == Approx(40));
  CHECK(gpu.value("lts__t_sectors.sum.per_second") == Approx(7));
  auto const& tracks = gpu.tracks.devices().at(0).tracks;
  CHECK(tracks[0].unit == "B/s");
  CHECK(tracks[1].unit == "%");
  CHECK(tracks[2].unit == "/s");
  CHECK_FALSE(tracks[0].is_main);
}

TEST_CASE("GPUs have separate tracks, and all tracks together are limited") {
  sampled_gpu gpu;
  for (std::uint64_t i = 0; i < 500; ++i)
    for (std::uint32_t device = 0; device < 2; ++device)
      gpu.interval(20'000 * i, {{elapsed, 1e9 * (device + 1)}}, device);
  gpu.tracks.finish(100);
  CHECK(gpu.value("SM clock", 0) == Approx(1e9));
  CHECK(gpu.value("SM clock", 1) == Approx(2e9));
  for (auto const& [_, device] : gpu.tracks.devices()) CHECK(device.series.points().size() <= 50);
}

TEST_CASE("more counters than a page shows are counted") {
  std::deque<std::string> names;
  sampled_gpu gpu;
  for (int i = 0; i < 40; ++i) names.push_back("metric_" + std::to_string(i) + ".sum");
  for (std::uint64_t interval = 0; interval < 2; ++interval)
    for (auto const& name : names) gpu.interval(20'000 * interval, {{name, 1}});
  gpu.tracks.finish(100'000);
  auto const& device = gpu.tracks.devices().at(0);
  CHECK(device.tracks.size() + device.tracks_left_out == 40);
  CHECK(device.tracks_left_out > 0);
}

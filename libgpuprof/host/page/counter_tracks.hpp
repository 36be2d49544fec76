// SPDX-License-Identifier: Apache-2.0
// Samples of the counters of a GPU as what people look for over time: how busy its SMs and tensor
// cores were, bytes a second, clocks; and any other counter as it was sampled.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/counter_series.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::page {

struct counter_track {
  std::string name;    // "SM active"
  std::string unit;    // "%", "B/s", "Hz"; empty: none
  std::string source;  // the counters that it is from
  bool is_main = false;
};

class counter_tracks {
 public:
  static constexpr std::size_t main_count = 6;  // kinds of main tracks

  struct of_device {
    explicit of_device(std::size_t max_points) : series(max_points) {}
    std::vector<counter_track> tracks;  // as in the series
    counter_series series;
    std::size_t tracks_left_out = 0;
  };

  explicit counter_tracks(std::size_t max_points) : max_points_(max_points) {}

  /// In order of time.
  void add(captured_sample const& sample);
  /// No more points than that of all tracks together.
  void finish(std::size_t max_points);

  std::map<std::uint32_t, of_device> const& devices() const noexcept { return devices_; }

 private:
  struct sampled_metric {
    std::string_view name;
    std::size_t place = 0;
    double value = 0;  // of the interval whose values come now; NaN: not yet
  };
  struct reading {
    std::vector<sampled_metric> metrics;
    std::uint64_t start_ns = 0, length_ns = 0;  // of that interval
    std::vector<double> values;                 // by track
    std::size_t others = 0;                     // tracks that are not main
    std::array<std::optional<std::size_t>, main_count> main;
  };
  static std::size_t place_of(reading& now, of_device& device, std::string_view metric);
  static void end_interval(reading& now, of_device& device);

  std::size_t max_points_;  // of a GPU
  std::map<std::uint32_t, of_device> devices_;
  std::map<std::uint32_t, reading> readings_;  // by device
};

}  // namespace gpuprof::host::page

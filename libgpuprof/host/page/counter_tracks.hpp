// SPDX-License-Identifier: Apache-2.0
// Samples of the counters of a GPU as what people look for over time: how busy its SMs and tensor
// cores were, bytes a second, clocks; any other counter as it was sampled; and what NVML told.
#pragma once

#include <gpuprof/capture.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::page {

/// Values over time of the counters of one GPU, as many as a page can hold: beyond the limit
/// intervals that lie in one stretch of time become one, with least, mean and greatest value.
struct counter_value {
  float mean = std::numeric_limits<float>::quiet_NaN();  // over time; NaN: there is none
  float least = mean, greatest = mean;
  bool is_there() const noexcept { return mean == mean; }
};

class counter_series {
 public:
  explicit counter_series(std::size_t max_points) : limit_(max_points) {}

  /// A further track; what was added before has no value there.
  std::size_t add_track();
  /// In order of time. A value for each track, NaN for none.
  void add(std::uint64_t start_ns, std::uint64_t length_ns, std::span<double const> values);
  /// Joins until there are no more points than that.
  void keep(std::size_t max_points);

  struct point {
    std::uint64_t start_ns = 0, length_ns = 0;
    std::uint64_t counted_ns = 0;  // less than the length where counters paused
  };
  std::span<point const> points() const noexcept { return points_; }
  std::size_t tracks() const noexcept { return tracks_.size(); }
  std::span<counter_value const> values(std::size_t track) const noexcept { return tracks_[track]; }
  /// Intervals that lie in one stretch of this length may have been joined; 0: none were.
  std::uint64_t joined_below_ns() const noexcept { return joined_below_; }

 private:
  bool joins(point const& last, point const& next) const noexcept;
  void join(std::size_t to, std::size_t from) noexcept;
  void join_all();

  std::size_t limit_;
  std::uint64_t joined_below_ = 0;
  std::vector<point> points_;
  std::vector<std::vector<counter_value>> tracks_;  // each as long as points_
};

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

/// Power, clocks and temperature of GPUs over time, as NVML told them.
class chip_state_tracks {
 public:
  explicit chip_state_tracks(std::size_t max_points) : max_points_(max_points) {}

  /// In order of time. A state is that of its GPU until the next, or for a fifth of a second.
  void add(captured_chip_state const& state);
  /// The last ones last until `end_ns` at the most. No more points than that of all tracks
  /// together.
  void finish(std::uint64_t end_ns, std::size_t max_points);

  std::map<std::uint32_t, counter_tracks::of_device> const& devices() const noexcept {
    return devices_;
  }

 private:
  void end(captured_chip_state const& state, std::uint64_t end_ns);

  std::size_t max_points_;  // of a GPU
  std::map<std::uint32_t, counter_tracks::of_device> devices_;
  std::map<std::uint32_t, captured_chip_state> last_;
};

}  // namespace gpuprof::host::page

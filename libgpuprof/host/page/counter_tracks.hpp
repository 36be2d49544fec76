// SPDX-License-Identifier: Apache-2.0
// Turns samples of GPU counters into quantities over time: how busy SMs and tensor cores were,
// bytes per second, clocks; all other counters as they were sampled; and the values from NVML.
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

/// Values over time of the counters of one GPU, as many as fit on a page. Beyond that limit,
/// intervals within one stretch of time are joined to one with minimum, mean and maximum.
struct counter_value {
  float mean = std::numeric_limits<float>::quiet_NaN();  // mean over time; NaN: no value
  float least = mean, greatest = mean;
  bool is_there() const noexcept { return mean == mean; }
};

class counter_series {
 public:
  explicit counter_series(std::size_t max_points) : limit_(max_points) {}

  /// Adds a track. It has no value at earlier points.
  std::size_t add_track();
  /// Adds an interval, in order of time. `values` has one value per track, NaN for none.
  void add(std::uint64_t start_ns, std::uint64_t length_ns, std::span<double const> values);
  /// Joins intervals until at most `max_points` remain.
  void keep(std::size_t max_points);

  struct point {
    std::uint64_t start_ns = 0, length_ns = 0;
    std::uint64_t counted_ns = 0;  // less than the length if counters paused
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
  std::vector<std::vector<counter_value>> tracks_;  // each has the length of points_
};

struct counter_track {
  std::string name;    // "SM active"
  std::string unit;    // "%", "B/s", "Hz"; empty: none
  std::string source;  // the counters from which it is computed
  bool is_main = false;
};

class counter_tracks {
 public:
  static constexpr std::size_t main_count = 6;  // number of main track kinds

  struct of_device {
    explicit of_device(std::size_t max_points) : series(max_points) {}
    std::vector<counter_track> tracks;  // in the order of the series
    counter_series series;
    std::size_t tracks_left_out = 0;
  };

  explicit counter_tracks(std::size_t max_points) : max_points_(max_points) {}

  /// Samples must come in order of time.
  void add(captured_sample const& sample);
  /// `max_points` limits the points of all tracks together.
  void finish(std::size_t max_points);

  std::map<std::uint32_t, of_device> const& devices() const noexcept { return devices_; }

 private:
  struct sampled_metric {
    std::string_view name;
    std::size_t place = 0;
    double value = 0;  // value in the current interval; NaN: none yet
  };
  struct reading {
    std::vector<sampled_metric> metrics;
    std::uint64_t start_ns = 0, length_ns = 0;  // the current interval
    std::vector<double> values;                 // by track
    std::size_t others = 0;                     // number of tracks that are not main tracks
    std::array<std::optional<std::size_t>, main_count> main;
  };
  static std::size_t place_of(reading& now, of_device& device, std::string_view metric);
  static void end_interval(reading& now, of_device& device);

  std::size_t max_points_;  // per GPU
  std::map<std::uint32_t, of_device> devices_;
  std::map<std::uint32_t, reading> readings_;  // by device
};

/// Power, clocks and temperature of GPUs over time, from NVML.
class chip_state_tracks {
 public:
  explicit chip_state_tracks(std::size_t max_points) : max_points_(max_points) {}

  /// States must come in order of time. A state applies until the next one of its GPU, but for at
  /// most a fifth of a second.
  void add(captured_chip_state const& state);
  /// The last states apply until `end_ns` at the latest. `max_points` limits the points of all
  /// tracks together.
  void finish(std::uint64_t end_ns, std::size_t max_points);

  std::map<std::uint32_t, counter_tracks::of_device> const& devices() const noexcept {
    return devices_;
  }

 private:
  void end(captured_chip_state const& state, std::uint64_t end_ns);

  std::size_t max_points_;  // per GPU
  std::map<std::uint32_t, counter_tracks::of_device> devices_;
  std::map<std::uint32_t, captured_chip_state> last_;
};

}  // namespace gpuprof::host::page

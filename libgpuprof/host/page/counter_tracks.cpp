// SPDX-License-Identifier: Apache-2.0
#include "host/page/counter_tracks.hpp"

#include "host/export/measured_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace gpuprof::host::page {
namespace {

constexpr std::uint64_t first_interval_ns = 1024;

/// Combines the values of two intervals, weighted by the times that were counted.
counter_value joined(counter_value const& a, double weight_a, counter_value const& b,
                     double weight_b) noexcept {
  if (!a.is_there()) return b;
  if (!b.is_there()) return a;
  auto const weights = weight_a + weight_b;
  auto const part = weights > 0 ? weight_b / weights : 0.5;
  return {static_cast<float>(a.mean + (b.mean - a.mean) * part), std::min(a.least, b.least),
          std::max(a.greatest, b.greatest)};
}

}  // namespace

std::size_t counter_series::add_track() {
  tracks_.emplace_back(points_.size());
  return tracks_.size() - 1;
}

bool counter_series::joins(point const& last, point const& next) const noexcept {
  return next.start_ns + next.length_ns - last.start_ns <= joined_below_;
}

void counter_series::join(std::size_t to, std::size_t from) noexcept {
  auto& last = points_[to];
  auto const& next = points_[from];
  for (auto& values : tracks_)
    values[to] = joined(values[to], static_cast<double>(last.counted_ns), values[from],
                        static_cast<double>(next.counted_ns));
  last.length_ns = next.start_ns + next.length_ns - last.start_ns;
  last.counted_ns += next.counted_ns;
}

void counter_series::add(std::uint64_t start_ns, std::uint64_t length_ns,
                         std::span<double const> values) {
  auto const end = start_ns + length_ns;
  if (!points_.empty())
    start_ns = std::max(start_ns, points_.back().start_ns + points_.back().length_ns);
  if (end <= start_ns) return;
  points_.push_back({start_ns, end - start_ns, end - start_ns});
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    auto const value = static_cast<float>(values[i]);
    tracks_[i].push_back({value, value, value});
  }
  if (auto const size = points_.size(); size > 1 && joins(points_[size - 2], points_.back())) {
    join(size - 2, size - 1);
    points_.pop_back();
    for (auto& track : tracks_) track.pop_back();
  }
  if (points_.size() > limit_) keep(limit_ - limit_ / 4);
}

void counter_series::keep(std::size_t max_points) {
  while (points_.size() > std::max<std::size_t>(1, max_points)) {
    joined_below_ = std::max(first_interval_ns, joined_below_ * 2);
    join_all();
  }
}

void counter_series::join_all() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (kept > 0 && joins(points_[kept - 1], points_[i])) {
      join(kept - 1, i);
      continue;
    }
    points_[kept] = points_[i];
    for (auto& values : tracks_) values[kept] = values[i];
    ++kept;
  }
  points_.resize(kept);
  for (auto& values : tracks_) values.resize(kept);
}

namespace {

constexpr std::size_t max_other_tracks = 24;
constexpr auto no_place = ~std::size_t{0};
constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// The counters from which main tracks are computed.
enum role : std::size_t { active, elapsed, warps, tensor, dram_read, dram_write, l2, role_count };
constexpr std::array<std::string_view, role_count> role_names{
    "sm__cycles_active.avg",
    "sm__cycles_elapsed.avg.per_second",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum"};
using role_values = std::array<double, role_count>;

struct main_track {
  char const *name, *unit, *source;
  double (*value)(role_values const&, double seconds);
};
// Cycles in which SMs had work are shown as a share of elapsed cycles. The tensor core counter sums
// the four parts of an SM, as in the roofline.
constexpr main_track main_tracks[] = {
    {"SM active", "%", "sm__cycles_active / sm__cycles_elapsed",
     [](role_values const& v, double s) { return 100 * v[active] / (v[elapsed] * s); }},
    {"Tensor active", "%", "sm__pipe_tensor_cycles_active / 4 / sm__cycles_elapsed",
     [](role_values const& v, double s) { return 100 * v[tensor] / 4 / (v[elapsed] * s); }},
    {"Warps active", "%", "sm__warps_active.avg.pct_of_peak_sustained_active",
     [](role_values const& v, double) { return v[warps]; }},
    {"DRAM", "B/s", "dram__bytes_read + dram__bytes_write",
     [](role_values const& v, double s) { return (v[dram_read] + v[dram_write]) / s; }},
    {"L2", "B/s", "lts__t_bytes", [](role_values const& v, double s) { return v[l2] / s; }},
    {"SM clock", "Hz", "sm__cycles_elapsed.avg.per_second",
     [](role_values const& v, double) { return v[elapsed]; }},
};

static_assert(std::size(main_tracks) == counter_tracks::main_count);

std::size_t role_of(std::string_view metric) noexcept {
  return static_cast<std::size_t>(std::find(role_names.begin(), role_names.end(), metric) -
                                  role_names.begin());
}

std::string unit_of(std::string_view metric) {
  if (metric.find(".pct") != metric.npos) return "%";
  auto const of = metric.find("bytes") != metric.npos ? "B" : "";
  return is_amount(metric) || metric.ends_with(".per_second") ? std::string(of) + "/s" : of;
}

}  // namespace

void counter_tracks::add(captured_sample const& sample) {
  auto& device = devices_.try_emplace(sample.device, max_points_).first->second;
  auto& now = readings_[sample.device];
  if (now.start_ns != sample.start_ns) end_interval(now, device);
  now.start_ns = sample.start_ns;
  now.length_ns = sample.duration_ns;
  // Texts of a capture do not move, so pointers can be compared.
  auto known = std::find_if(now.metrics.begin(), now.metrics.end(), [&](auto const& one) {
    return one.name.data() == sample.metric.data();
  });
  if (known == now.metrics.end()) {
    now.metrics.push_back({sample.metric, place_of(now, device, sample.metric), none});
    known = std::prev(now.metrics.end());
  }
  known->value = sample.value;
}

/// Returns the role of a metric. Another metric gets the number of its track after all roles,
/// created here.
std::size_t counter_tracks::place_of(reading& now, of_device& device, std::string_view metric) {
  auto const known = role_of(metric);
  if (known < role_count) return known;
  if (now.others == max_other_tracks) {
    ++device.tracks_left_out;
    return no_place;
  }
  ++now.others;
  device.tracks.push_back({std::string(metric), unit_of(metric), std::string(metric), false});
  return role_count + device.series.add_track();
}

void counter_tracks::end_interval(reading& now, of_device& device) {
  if (now.length_ns == 0) return;
  auto const seconds = static_cast<double>(now.length_ns) / 1e9;
  role_values by_role;
  by_role.fill(none);
  now.values.assign(device.tracks.size(), none);
  for (auto& metric : now.metrics) {
    auto const value = std::exchange(metric.value, none);
    if (metric.place < role_count)
      by_role[metric.place] = value;
    else if (metric.place != no_place && std::isfinite(value))
      now.values[metric.place - role_count] = is_amount(metric.name) ? value / seconds : value;
  }
  for (std::size_t i = 0; i < main_count; ++i) {
    auto const& one = main_tracks[i];
    auto const value = one.value(by_role, seconds);
    if (!std::isfinite(value)) continue;
    if (!now.main[i]) {
      now.main[i] = device.series.add_track();
      now.values.push_back(none);
      device.tracks.push_back({one.name, one.unit, one.source, true});
    }
    now.values[*now.main[i]] = value;
  }
  device.series.add(now.start_ns, now.length_ns, now.values);
  now.length_ns = 0;
}

void counter_tracks::finish(std::size_t max_points) {
  std::size_t tracks = 0;
  for (auto& [number, device] : devices_) {
    end_interval(readings_[number], device);
    tracks += device.tracks.size();
  }
  if (tracks == 0) return;
  for (auto& [_, device] : devices_) device.series.keep(max_points / tracks);
}

namespace {

constexpr std::uint64_t max_length_ns = 200'000'000;  // they are read every 100 ms

struct state_track {
  char const *name, *unit, *source;
  double (*value)(captured_chip_state const&);
};
constexpr state_track tracks[] = {
    {"Power", "W", "NVML, of the whole board",
     [](captured_chip_state const& s) { return s.watts; }},
    {"SM clock by NVML", "Hz", "NVML",
     [](captured_chip_state const& s) { return static_cast<double>(s.sm_clock_hz); }},
    {"Temperature", "\u00b0C", "NVML",
     [](captured_chip_state const& s) { return static_cast<double>(s.temperature_c); }},
};

}  // namespace

void chip_state_tracks::add(captured_chip_state const& state) {
  auto const [last, is_first] = last_.try_emplace(state.device, state);
  if (is_first) return;
  end(last->second, state.time_ns);
  last->second = state;
}

void chip_state_tracks::end(captured_chip_state const& state, std::uint64_t end_ns) {
  if (end_ns <= state.time_ns) return;
  auto const [found, is_new] = devices_.try_emplace(state.device, max_points_);
  auto& device = found->second;
  if (is_new)
    for (auto const& one : tracks) {
      device.series.add_track();
      device.tracks.push_back({one.name, one.unit, one.source, true});
    }
  double values[std::size(tracks)];
  std::transform(std::begin(tracks), std::end(tracks), values, [&](state_track const& one) {
    auto const value = one.value(state);
    return value > 0 ? value : std::numeric_limits<double>::quiet_NaN();  // 0: not known
  });
  device.series.add(state.time_ns, std::min(end_ns - state.time_ns, max_length_ns), values);
}

void chip_state_tracks::finish(std::uint64_t end_ns, std::size_t max_points) {
  for (auto const& [_, state] : last_) end(state, end_ns);
  if (devices_.empty()) return;
  for (auto& [_, device] : devices_)
    device.series.keep(max_points / (devices_.size() * std::size(tracks)));
}

}  // namespace gpuprof::host::page

// SPDX-License-Identifier: Apache-2.0
#include "host/page/chip_state_tracks.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace gpuprof::host::page {
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

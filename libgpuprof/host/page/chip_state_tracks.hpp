// SPDX-License-Identifier: Apache-2.0
// Power, clocks and temperature of GPUs over time, as NVML told them.
#pragma once

#include <gpuprof/capture.hpp>

#include "host/page/counter_tracks.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace gpuprof::host::page {

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

// SPDX-License-Identifier: Apache-2.0
#include "later_peaks.hpp"

#include "guest/peaks/store/store.hpp"

#include <ctime>
#include <type_traits>
#include <utility>

namespace gpuprof {

namespace {

/// As gpu_peaks::measured_at: such texts are in the order of time.
std::string text_of(timestamp_ns moment) {
  auto const seconds = static_cast<std::time_t>(moment.value / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// The UUID is the same in any case.
bool is_same(peaks_key const& key, captured_gpu const& gpu) {
  auto const agree = [&](auto const& one, auto const& other) {
    auto const is_missing = gpu.is_imported && other == std::decay_t<decltype(other)>{};
    return is_missing || one == other;
  };
  return agree(key.driver_version, gpu.driver_version) && agree(key.sm_count, gpu.sm_count) &&
         agree(key.max_sm_clock_mhz, gpu.max_sm_clock_mhz) &&
         agree(key.max_memory_clock_mhz, gpu.max_memory_clock_mhz);
}

}  // namespace

std::optional<gpu_peaks> later_peaks(captured_gpu const& gpu, timestamp_ns after) {
  auto const earliest = text_of(after);
  std::optional<gpu_peaks> newest;
  for (auto& stored : peaks::peaks_of_gpu(peaks::store_folder(), gpu.uuid)) {
    if (!is_same(stored.key, gpu) || stored.measured_at < earliest) continue;
    if (!newest || stored.measured_at > newest->measured_at) newest = std::move(stored);
  }
  return newest;
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/chip_states.hpp"

#include "base/own_descriptor.hpp"
#include "base/time.hpp"
#include "guest/driver/cuda_driver.hpp"
#include "guest/driver/device_facts.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t ask_every_ns = 100'000'000;

chip_state_record row_of(device_id device, timestamp_ns time, chip_reading const& state) {
  return {.device = device,
          .time = time,
          .sm_clock_mhz = state.sm_clock_mhz,
          .memory_clock_mhz = state.memory_clock_mhz,
          .power_mw = static_cast<std::uint32_t>(std::lround(state.watts * 1000)),
          .temperature_c = state.temperature_c,
          .limiters = state.limiters};
}

}  // namespace

void chip_state_times::add(context_record const& context) {
  if (std::find(used_.begin(), used_.end(), context.device) == used_.end())
    used_.push_back(context.device);
}

std::vector<device_id> chip_state_times::due(std::uint64_t monotonic_ns) {
  if (used_.empty() || monotonic_ns < next_) return {};
  next_ = monotonic_ns + ask_every_ns;
  return used_;
}

/// NVML keeps files open. It is closed if the program has few descriptors left. To reopen it, so
/// many must be free that it need not be closed again at once.
void chip_states::open_or_close() {
  if (is_opened_ && descriptors_are_scarce()) {
    known_.clear();
    library_.reset();
    is_opened_ = false;
  } else if (!is_opened_ && has_free_descriptors(2 * few_descriptors)) {
    is_opened_ = true;
    if (auto opened = nvml::open()) library_.emplace(std::move(*opened));
  }
}

std::vector<chip_state_record> chip_states::read(std::vector<device_id> const& devices) {
  open_or_close();
  std::vector<chip_state_record> rows;
  if (!library_) return rows;
  for (auto const device : devices) {
    auto known = known_.find(device);
    if (known == known_.end()) known = known_.emplace(device, find(device)).first;
    if (known->second) rows.push_back(row_of(device, now(), known->second->read()));
  }
  return rows;
}

std::optional<nvml_device> chip_states::find(device_id device) const {
  auto const driver = load_cuda_driver();
  if (!driver) return std::nullopt;
  return library_->device(device_uuid(*driver, static_cast<int>(raw(device))));
}

}  // namespace gpuprof::guest

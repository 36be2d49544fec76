// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/counter_hardware.hpp"

#include "replay/format/machine.hpp"

#include <algorithm>

namespace gpuprof::replay {

unsigned sms_of(std::size_t device) noexcept {
  auto const& devices = this_machine().devices;
  return device < devices.size() ? static_cast<unsigned>(std::max(devices[device].sm_count, 1)) : 1;
}

counter_hardware& counter_hardware::get() noexcept {
  static auto* const one = new counter_hardware;
  return *one;
}

bool counter_hardware::take(std::size_t device, void const* who) {
  std::lock_guard const hold(lock_);
  return taken_.try_emplace(device, who).first->second == who;
}

void counter_hardware::release(void const* who) {
  std::lock_guard const hold(lock_);
  std::erase_if(taken_, [&](auto const& entry) { return entry.second == who; });
}

bool counter_hardware::is_taken(std::size_t device) {
  std::lock_guard const hold(lock_);
  return taken_.contains(device);
}

}  // namespace gpuprof::replay

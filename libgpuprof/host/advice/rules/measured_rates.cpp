// SPDX-License-Identifier: Apache-2.0
#include "host/advice/rules/measured_rates.hpp"

namespace gpuprof::host::advice {
namespace {

std::optional<double> of_device(device_facts const& device, std::string_view test) {
  auto const found = device.peak ? device.peak(test) : std::nullopt;
  return found && *found > 0 ? found : std::nullopt;
}

}  // namespace

double share_of_window(run_facts const& facts, double ns) noexcept {
  auto const window = facts.all_windows_ns();
  return window > 0 ? ns / window : 0;
}

std::optional<double> measured(run_facts const& facts, std::string_view test) {
  for (auto const& device : facts.devices)
    if (auto const found = of_device(device, test)) return found;
  return std::nullopt;
}

std::optional<double> measured(run_facts const& facts, device_id device, std::string_view test) {
  auto const* const found = facts.device(device);
  return found ? of_device(*found, test) : std::nullopt;
}

double rate_of(double bytes, double ns) noexcept {
  return ns > 0 ? bytes / ns * 1e9 : 0;
}

double ns_at(double bytes, double bytes_a_second) noexcept {
  return bytes_a_second > 0 ? bytes / bytes_a_second * 1e9 : 0;
}

}  // namespace gpuprof::host::advice

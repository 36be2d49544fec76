// SPDX-License-Identifier: Apache-2.0
#include "guest/driver/nvml.hpp"

#include "guest/driver/nvml_functions.hpp"

#include <dlfcn.h>
#include <type_traits>
#include <utility>

namespace gpuprof::guest {
namespace {

void resolve_all(nvml_functions& table, void* library) {
  auto const resolve = [library](auto& member, char const* name) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, name));
  };
  resolve(table.init, "nvmlInit_v2");
  resolve(table.shutdown, "nvmlShutdown");
  resolve(table.driver_version, "nvmlSystemGetDriverVersion");
  resolve(table.device_by_uuid, "nvmlDeviceGetHandleByUUID");
  resolve(table.is_slice, "nvmlDeviceIsMigDeviceHandle");
  resolve(table.chip_of_slice, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
  resolve(table.mig_mode, "nvmlDeviceGetMigMode");
  resolve(table.ecc_mode, "nvmlDeviceGetEccMode");
  resolve(table.max_clock, "nvmlDeviceGetMaxClockInfo");
  resolve(table.clock, "nvmlDeviceGetClockInfo");
  resolve(table.application_clock, "nvmlDeviceGetApplicationsClock");
  resolve(table.default_application_clock, "nvmlDeviceGetDefaultApplicationsClock");
  resolve(table.bus_width, "nvmlDeviceGetMemoryBusWidth");
  resolve(table.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  resolve(table.power_usage, "nvmlDeviceGetPowerUsage");
  resolve(table.max_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
  resolve(table.max_pcie_width, "nvmlDeviceGetMaxPcieLinkWidth");
  resolve(table.pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
  resolve(table.pcie_width, "nvmlDeviceGetCurrPcieLinkWidth");
  resolve(table.field_values, "nvmlDeviceGetFieldValues");
  resolve(table.temperature, "nvmlDeviceGetTemperatureV");
  resolve(table.old_temperature, "nvmlDeviceGetTemperature");
  resolve(table.event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (table.event_reasons == nullptr)  // its name before 535
    resolve(table.event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  resolve(table.total_energy, "nvmlDeviceGetTotalEnergyConsumption");
  resolve(table.utilization, "nvmlDeviceGetUtilizationRates");
  resolve(table.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  resolve(table.mps_processes, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
  resolve(table.graphics_processes, "nvmlDeviceGetGraphicsRunningProcesses_v3");
}

}  // namespace

result<nvml> nvml::open() {
  // Filled once and kept: the library stays mapped for the life of the process.
  static auto const* const table = [] {
    auto* const made = new nvml_functions;
    if (void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL))
      resolve_all(*made, library);
    return made;
  }();
  if (!table->usable())
    return error{"there is no NVML (libnvidia-ml.so.1): clocks and bus width stay unknown"};
  if (auto const code = table->init(); code != 0) {
    return error{"nvmlInit_v2 failed with " + std::to_string(code) +
                 ": clocks and bus width stay unknown"};
  }
  return nvml(table);
}

nvml::nvml(nvml&& other) noexcept : table_(std::exchange(other.table_, nullptr)) {}

nvml::~nvml() {
  if (table_ != nullptr) table_->shutdown();  // NVML counts its initializations
}

std::string nvml::driver_version() const {
  char text[96] = {};
  if (table_->driver_version == nullptr || table_->driver_version(text, sizeof text) != 0)
    return {};
  return text;
}

std::optional<nvml_device> nvml::device(std::string const& uuid) const {
  auto name = uuid;
  nvml_handle handle = nullptr;
  auto outcome = table_->device_by_uuid(name.c_str(), &handle);
  if (outcome != 0 && uuid.starts_with("GPU-")) {
    name = "MIG-" + uuid.substr(4);
    outcome = table_->device_by_uuid(name.c_str(), &handle);
  }
  if (outcome != 0 || handle == nullptr) return std::nullopt;
  unsigned is_slice = 0;
  nvml_handle chip = handle;
  if (table_->is_slice != nullptr && table_->is_slice(handle, &is_slice) == 0 && is_slice != 0 &&
      (table_->chip_of_slice == nullptr || table_->chip_of_slice(handle, &chip) != 0)) {
    return std::nullopt;
  }
  return nvml_device(table_, handle, chip, std::move(name));
}

}  // namespace gpuprof::guest

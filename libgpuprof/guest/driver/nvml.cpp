// SPDX-License-Identifier: Apache-2.0
#include "guest/driver/nvml.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <type_traits>
#include <utility>

namespace gpuprof::guest {
namespace {

// NVML's functions and structs, as its reference documents them.

using nvml_result = int;  // 0: success
using nvml_handle = void*;
constexpr nvml_result nvml_insufficient_size = 7;

// nvmlClockType_t, nvmlTemperatureSensors_t
constexpr unsigned nvml_clock_sm = 1, nvml_clock_memory = 2, nvml_temperature_gpu = 0;

// nvmlFieldValue_t and fields of it
constexpr unsigned nvml_field_c2c_links = 170, nvml_field_power_instant_mw = 186;
union nvml_value {
  double as_double;
  unsigned as_unsigned;
  unsigned long long as_long;
};
struct nvml_field_value {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency_us;
  unsigned type;
  nvml_result outcome;
  nvml_value value;
};
static_assert(sizeof(nvml_field_value) == 40, "nvmlFieldValue_t has 40 bytes");

// nvmlTemperature_v1_t; `version` is the size of the struct, with the version number in the highest
// byte.
struct nvml_temperature {
  unsigned version;
  unsigned sensor;
  int celsius;
};
constexpr unsigned nvml_temperature_v1 = sizeof(nvml_temperature) | 1u << 24;

// nvmlUtilization_t, in per cent
struct nvml_utilization {
  unsigned gpu;
  unsigned memory;
};

// nvmlProcessInfo_t for functions with the suffix _v3
struct nvml_process {
  unsigned pid;
  unsigned long long used_bytes;  // all ones: not known
  unsigned gpu_instance;
  unsigned compute_instance;
};
static_assert(sizeof(nvml_process) == 24, "nvmlProcessInfo_t has 24 bytes");

}  // namespace

/// A null member means that this NVML lacks the function.
struct nvml_functions {
  using read_unsigned = nvml_result (*)(nvml_handle, unsigned*);
  using read_long = nvml_result (*)(nvml_handle, unsigned long long*);
  using read_clock = nvml_result (*)(nvml_handle, unsigned clock, unsigned* mhz);
  using list_processes = nvml_result (*)(nvml_handle, unsigned* count, nvml_process*);

  nvml_result (*init)() = nullptr;
  nvml_result (*shutdown)() = nullptr;
  nvml_result (*driver_version)(char*, unsigned) = nullptr;
  nvml_result (*device_by_uuid)(char const*, nvml_handle*) = nullptr;
  nvml_result (*chip_of_slice)(nvml_handle, nvml_handle*) = nullptr;
  read_unsigned is_slice = nullptr;
  nvml_result (*mig_mode)(nvml_handle, unsigned* current, unsigned* pending) = nullptr;
  nvml_result (*ecc_mode)(nvml_handle, unsigned* current, unsigned* pending) = nullptr;

  read_clock max_clock = nullptr, clock = nullptr;
  read_clock application_clock = nullptr, default_application_clock = nullptr;
  read_unsigned bus_width = nullptr;
  read_unsigned power_limit = nullptr, power_usage = nullptr;  // mW
  read_unsigned max_pcie_generation = nullptr, max_pcie_width = nullptr;
  read_unsigned pcie_generation = nullptr, pcie_width = nullptr;

  nvml_result (*field_values)(nvml_handle, int count, nvml_field_value*) = nullptr;
  nvml_result (*temperature)(nvml_handle, nvml_temperature*) = nullptr;
  nvml_result (*old_temperature)(nvml_handle, unsigned sensor, unsigned* celsius) = nullptr;
  read_long event_reasons = nullptr;
  read_long total_energy = nullptr;  // mJ
  nvml_result (*utilization)(nvml_handle, nvml_utilization*) = nullptr;
  list_processes compute_processes = nullptr, mps_processes = nullptr, graphics_processes = nullptr;

  bool usable() const noexcept {
    return init != nullptr && shutdown != nullptr && device_by_uuid != nullptr;
  }
};

namespace {

unsigned ask(nvml_functions::read_unsigned function, nvml_handle chip) noexcept {
  unsigned value = 0;
  return function != nullptr && function(chip, &value) == 0 ? value : 0;
}

unsigned ask(nvml_functions::read_clock function, nvml_handle chip, unsigned clock) noexcept {
  unsigned mhz = 0;
  return function != nullptr && function(chip, clock, &mhz) == 0 ? mhz : 0;
}

std::optional<std::uint64_t> ask(nvml_functions::read_long function, nvml_handle chip) noexcept {
  unsigned long long value = 0;
  if (function == nullptr || function(chip, &value) != 0) return std::nullopt;
  return value;
}

/// True if a mode is on (1).
bool is_on(nvml_result (*mode)(nvml_handle, unsigned*, unsigned*), nvml_handle chip) noexcept {
  unsigned current = 0, pending = 0;
  return mode != nullptr && mode(chip, &current, &pending) == 0 && current == 1;
}

unsigned ask_field(nvml_functions const& table, nvml_handle chip, unsigned field) noexcept {
  nvml_field_value value{};
  value.field = field;
  if (table.field_values == nullptr || table.field_values(chip, 1, &value) != 0) return 0;
  return value.outcome == 0 ? value.value.as_unsigned : 0;
}

/// Returns the present power if the driver gives it, or the mean of a second from the older call.
double watts(nvml_functions const& table, nvml_handle chip) noexcept {
  auto milliwatts = ask_field(table, chip, nvml_field_power_instant_mw);
  if (milliwatts == 0) milliwatts = ask(table.power_usage, chip);
  return milliwatts / 1000.0;
}

/// The older call will be removed in CUDA 14.
unsigned temperature(nvml_functions const& table, nvml_handle chip) noexcept {
  nvml_temperature reading{nvml_temperature_v1, nvml_temperature_gpu, 0};
  if (table.temperature != nullptr && table.temperature(chip, &reading) == 0)
    return static_cast<unsigned>(std::max(reading.celsius, 0));
  return ask(table.old_temperature, chip, nvml_temperature_gpu);
}

/// Returns false if NVML cannot tell.
bool add_processes(std::vector<gpu_process>& all, nvml_functions::list_processes list,
                   nvml_handle device) {
  if (list == nullptr) return false;
  std::vector<nvml_process> found(64);
  auto count = static_cast<unsigned>(found.size());
  auto outcome = list(device, &count, found.data());
  for (; outcome == nvml_insufficient_size && found.size() < 65'536;
       outcome = list(device, &count, found.data())) {
    found.resize(2 * std::max<std::size_t>(found.size(), count));  // others may start meanwhile
    count = static_cast<unsigned>(found.size());
  }
  if (outcome != 0) return false;
  found.resize(std::min<std::size_t>(count, found.size()));
  for (auto const& process : found) {
    bool const is_there = std::any_of(all.begin(), all.end(),
                                      [&](gpu_process const& p) { return p.pid == process.pid; });
    if (!is_there)
      all.push_back({process.pid, process.used_bytes + 1 == 0 ? 0 : process.used_bytes});
  }
  return true;
}

}  // namespace

nvml_device::nvml_device(nvml_functions const* table, void* handle, void* chip,
                         std::string uuid) noexcept
    : table_(table), handle_(handle), chip_(chip), uuid_(std::move(uuid)) {}

nvml_facts nvml_device::facts() const noexcept {
  auto const& t = *table_;
  return {
      .max_sm_clock_mhz = ask(t.max_clock, chip_, nvml_clock_sm),
      .max_memory_clock_mhz = ask(t.max_clock, chip_, nvml_clock_memory),
      .memory_bus_bits = ask(t.bus_width, chip_),
      .power_limit_w = (ask(t.power_limit, chip_) + 500) / 1000,
      .application_sm_clock_mhz = ask(t.application_clock, chip_, nvml_clock_sm),
      .default_application_sm_clock_mhz = ask(t.default_application_clock, chip_, nvml_clock_sm),
      .ecc = is_on(t.ecc_mode, chip_),
      .mig = is_on(t.mig_mode, chip_),
      .max_pcie_generation = static_cast<int>(ask(t.max_pcie_generation, chip_)),
      .max_pcie_width = static_cast<int>(ask(t.max_pcie_width, chip_)),
      .pcie_generation = static_cast<int>(ask(t.pcie_generation, chip_)),
      .pcie_width = static_cast<int>(ask(t.pcie_width, chip_)),
      .c2c_links = static_cast<int>(ask_field(t, chip_, nvml_field_c2c_links)),
  };
}

chip_reading nvml_device::read() const noexcept {
  auto const& t = *table_;
  return {
      .sm_clock_mhz = ask(t.clock, chip_, nvml_clock_sm),
      .memory_clock_mhz = ask(t.clock, chip_, nvml_clock_memory),
      .watts = watts(t, chip_),
      .temperature_c = temperature(t, chip_),
      .limiters = ask(t.event_reasons, chip_).value_or(0),
  };
}

std::optional<std::uint64_t> nvml_device::energy_mj() const noexcept {
  return ask(table_->total_energy, chip_);
}

std::optional<gpu_utilization> nvml_device::utilization() const noexcept {
  nvml_utilization per_cent{};
  if (table_->utilization == nullptr || table_->utilization(handle_, &per_cent) != 0)
    return std::nullopt;
  return gpu_utilization{per_cent.gpu, per_cent.memory};
}

std::optional<std::vector<gpu_process>> nvml_device::processes() const {
  std::vector<gpu_process> all;
  bool known = false;
  for (auto const list :
       {table_->compute_processes, table_->mps_processes, table_->graphics_processes}) {
    if (add_processes(all, list, handle_)) known = true;
  }
  if (!known) return std::nullopt;
  return all;
}

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
  if (table_ != nullptr) table_->shutdown();  // NVML counts calls of init and shutdown
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

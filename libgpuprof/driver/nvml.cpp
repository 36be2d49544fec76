#include "driver/nvml.hpp"

#include <dlfcn.h>
#include <utility>

namespace gpuprof {
namespace {

// From NVML's reference: results are an int with 0 for success, devices are opaque pointers.
using nvml_result = int;
using nvml_device = void*;
constexpr unsigned clock_sm = 1;
constexpr unsigned clock_memory = 2;

}  // namespace

struct nvml::functions {
  nvml_result (*init)() = nullptr;
  nvml_result (*shutdown)() = nullptr;
  nvml_result (*driver_version)(char*, unsigned) = nullptr;
  nvml_result (*device_by_uuid)(char const*, nvml_device*) = nullptr;
  nvml_result (*max_clock)(nvml_device, unsigned, unsigned*) = nullptr;
  nvml_result (*bus_width)(nvml_device, unsigned*) = nullptr;
  nvml_result (*mig_mode)(nvml_device, unsigned*, unsigned*) = nullptr;

  bool usable() const noexcept {
    return init != nullptr && shutdown != nullptr && device_by_uuid != nullptr;
  }
};

result<nvml> nvml::open() {
  // Filled once and kept: the library stays mapped for the life of the process.
  static auto const* const table = [] {
    auto* const made = new functions;
    if (void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
      auto const resolve = [library](auto& member, char const* name) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, name));
      };
      resolve(made->init, "nvmlInit_v2");
      resolve(made->shutdown, "nvmlShutdown");
      resolve(made->driver_version, "nvmlSystemGetDriverVersion");
      resolve(made->device_by_uuid, "nvmlDeviceGetHandleByUUID");
      resolve(made->max_clock, "nvmlDeviceGetMaxClockInfo");
      resolve(made->bus_width, "nvmlDeviceGetMemoryBusWidth");
      resolve(made->mig_mode, "nvmlDeviceGetMigMode");
    }
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
  if (table_ != nullptr) table_->shutdown();  // NVML counts its initialisations
}

std::string nvml::driver_version() const {
  char text[96] = {};
  if (table_->driver_version == nullptr || table_->driver_version(text, sizeof text) != 0)
    return {};
  return text;
}

nvml_facts nvml::facts_of(std::string const& uuid) const {
  nvml_facts facts;
  nvml_device device = nullptr;
  if (table_->device_by_uuid(uuid.c_str(), &device) != 0) return facts;
  unsigned value = 0;
  if (table_->max_clock != nullptr) {
    if (table_->max_clock(device, clock_sm, &value) == 0) facts.max_sm_clock_mhz = value;
    if (table_->max_clock(device, clock_memory, &value) == 0) facts.max_memory_clock_mhz = value;
  }
  if (table_->bus_width != nullptr && table_->bus_width(device, &value) == 0)
    facts.memory_bus_bits = value;
  return facts;
}

bool nvml::mig_enabled(std::string const& uuid) const {
  nvml_device device = nullptr;
  unsigned current = 0, pending = 0;
  return table_->device_by_uuid(uuid.c_str(), &device) == 0 && table_->mig_mode != nullptr &&
         table_->mig_mode(device, &current, &pending) == 0 && current == 1;
}

}  // namespace gpuprof

// A libnvidia-ml.so.1 with no GPU behind it: answers from the facts of a recorded session.
#include "replay/driver/machine.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace gpuprof::replay;

// From NVML's reference; its header is not in every toolkit.
using nvmlReturn_t = int;
using nvmlDevice_t = fake_device const*;
constexpr nvmlReturn_t nvml_success = 0, nvml_invalid_argument = 2, nvml_not_supported = 3,
                       nvml_not_found = 6, nvml_driver_not_loaded = 9;

nvmlReturn_t copy_text(std::string const& from, char* to, unsigned length) {
  if (to == nullptr) return nvml_invalid_argument;
  std::snprintf(to, length, "%s", from.c_str());
  return nvml_success;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  return this_machine().devices.empty() ? nvml_driver_not_loaded : nvml_success;
}
nvmlReturn_t nvmlShutdown() {
  return nvml_success;
}

char const* nvmlErrorString(nvmlReturn_t code) {
  return code == nvml_success ? "Success" : "An error of the fake NVML";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return copy_text(this_machine().driver_version, text, length);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(this_machine().devices.size());
  return nvml_success;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* device) {
  if (index >= this_machine().devices.size()) return nvml_invalid_argument;
  *device = &this_machine().devices[index];
  return nvml_success;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(char const* uuid, nvmlDevice_t* device) {
  for (auto const& d : this_machine().devices) {
    if (d.uuid == uuid) {
      *device = &d;
      return nvml_success;
    }
  }
  return nvml_not_found;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* text, unsigned length) {
  return copy_text(device->name, text, length);
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* text, unsigned length) {
  return copy_text(device->uuid, text, length);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned clock, unsigned* mhz) {
  if (clock == 1)
    *mhz = device->max_sm_clock_khz / 1000;
  else if (clock == 2)
    *mhz = device->max_memory_clock_khz / 1000;
  else
    return nvml_not_supported;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned clock, unsigned* mhz) {
  return nvmlDeviceGetMaxClockInfo(device, clock, mhz);
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned* bits) {
  *bits = device->memory_bus_bits;
  return nvml_success;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t, unsigned* current, unsigned* pending) {
  *current = *pending = 0;
  return nvml_success;
}

}  // extern "C"

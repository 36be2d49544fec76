// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 with no GPU behind it: answers from the facts of a recorded session.
#include "replay/format/machine.hpp"
#include "replay/nvml/gpu_use.hpp"
#include "replay/nvml/kept_files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace {

using namespace gpuprof::replay;

// From NVML's reference; its header is not in every toolkit.
using nvmlReturn_t = int;
using nvmlDevice_t = fake_device const*;
constexpr nvmlReturn_t nvml_success = 0, nvml_invalid_argument = 2, nvml_not_supported = 3,
                       nvml_not_found = 6, nvml_insufficient_size = 7, nvml_driver_not_loaded = 9,
                       nvml_version_mismatch = 25;

struct nvmlFieldValue_t {
  unsigned fieldId, scopeId;
  long long timestamp, latencyUsec;
  unsigned valueType;
  nvmlReturn_t nvmlReturn;
  unsigned long long value;
};
struct nvmlTemperature_t {
  unsigned version, sensorType;
  int temperature;
};
struct nvmlUtilization_t {
  unsigned gpu, memory;
};
struct nvmlProcessInfo_t {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
};

/// The recorded GPU's only slice, with REPLAY_GPU_MIG.
fake_device const* slice() {
  static fake_device const* const only = new fake_device(this_machine().devices.front());
  return only;
}

nvmlReturn_t copy_text(std::string const& from, char* to, unsigned length) {
  if (to == nullptr) return nvml_invalid_argument;
  std::snprintf(to, length, "%s", from.c_str());
  return nvml_success;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  if (this_machine().devices.empty()) return nvml_driver_not_loaded;
  files_of_nvml().begin();
  return nvml_success;
}
nvmlReturn_t nvmlShutdown() {
  files_of_nvml().end();
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
  if (fake_gpu_is_slice()) {
    *device = slice();
    return "MIG-" + slice()->uuid.substr(4) == uuid ? nvml_success : nvml_not_found;
  }
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

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned* current, unsigned* pending) {
  if (fake_gpu_is_slice() && device == slice()) return nvml_invalid_argument;
  *current = *pending = fake_gpu_is_slice() ? 1 : 0;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned* is_slice) {
  *is_slice = fake_gpu_is_slice() && device == slice() ? 1 : 0;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t, nvmlDevice_t* chip) {
  *chip = &this_machine().devices.front();
  return nvml_success;
}

// A board as an H200's is when it has nothing to do; sessions hold none of this.

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t, unsigned* current, unsigned* pending) {
  *current = *pending = 1;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* milliwatts) {
  *milliwatts = 75'000;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, unsigned clock, unsigned* mhz) {
  return nvmlDeviceGetMaxClockInfo(device, clock, mhz);
}
nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, unsigned clock,
                                                   unsigned* mhz) {
  return nvmlDeviceGetMaxClockInfo(device, clock, mhz);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned* generation) {
  *generation = 5;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned* lanes) {
  *lanes = 16;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t, unsigned* generation) {
  *generation = 1;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned* lanes) {
  *lanes = 16;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int count, nvmlFieldValue_t* values) {
  constexpr unsigned power_instant = 186;
  for (int i = 0; i < count; ++i) {
    bool const known = values[i].fieldId == power_instant;
    values[i].nvmlReturn = known ? nvml_success : nvml_not_supported;
    values[i].value = known ? 76'500 : 0;
  }
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t, nvmlTemperature_t* reading) {
  if (reading->version != 0x100000c) return nvml_version_mismatch;
  reading->temperature = 31;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t, unsigned long long* reasons) {
  *reasons = 1;
  return nvml_success;
}
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t, unsigned long long* millijoules) {
  *millijoules = 123'456'789;
  return nvml_success;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* percent) {
  if (fake_gpu_is_slice() && device == slice()) return nvml_not_supported;
  percent->gpu = next_gpu_percent();
  percent->memory = percent->gpu / 2;
  return nvml_success;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned* count,
                                                     nvmlProcessInfo_t* list) {
  auto const& all = fake_processes();
  auto const room = *count;
  *count = static_cast<unsigned>(all.size());
  if (room < all.size()) return nvml_insufficient_size;
  std::transform(all.begin(), all.end(), list, [](fake_process const& p) {
    return nvmlProcessInfo_t{p.pid, p.memory_bytes, ~0u, ~0u};
  });
  return nvml_success;
}

}  // extern "C"

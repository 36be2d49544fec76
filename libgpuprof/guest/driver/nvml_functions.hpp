// SPDX-License-Identifier: Apache-2.0
// NVML's functions and structs, as its reference documents them. A null member means that this NVML
// lacks the function.
#pragma once

namespace gpuprof::guest {

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

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
#include "guest/driver/device_facts.hpp"

#include "guest/driver/nvml.hpp"

#include <cstdio>

namespace gpuprof::guest {
namespace {

int attribute(cuda_driver const& driver, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  if (driver.cuDeviceGetAttribute == nullptr) return 0;
  return driver.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

void add_sm_limits(cuda_driver const& driver, CUdevice device, device_facts& facts) {
  auto const limit = [&](CUdevice_attribute which) {
    return static_cast<std::uint32_t>(attribute(driver, device, which));
  };
  facts.max_threads_per_sm = limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  facts.max_blocks_per_sm = limit(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  facts.registers_per_sm = limit(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  facts.shared_bytes_per_sm = limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  facts.reserved_shared_bytes = limit(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
}

device_facts facts_from_driver(cuda_driver const& driver, int ordinal) {
  device_facts facts;
  facts.ordinal = ordinal;
  CUdevice device{};
  if (driver.cuDeviceGet == nullptr || driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
    return facts;
  char text[256] = {};
  if (driver.cuDeviceGetName != nullptr &&
      driver.cuDeviceGetName(text, sizeof text, device) == CUDA_SUCCESS) {
    facts.name = text;
  }
  if (driver.cuDeviceGetPCIBusId != nullptr &&
      driver.cuDeviceGetPCIBusId(text, sizeof text, device) == CUDA_SUCCESS) {
    facts.pci_bus = text;
  }
  facts.uuid = device_uuid(driver, ordinal);
  std::size_t bytes = 0;
  if (driver.cuDeviceTotalMem_v2 != nullptr &&
      driver.cuDeviceTotalMem_v2(&bytes, device) == CUDA_SUCCESS) {
    facts.memory_bytes = bytes;
  }
  facts.compute_major = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  facts.compute_minor = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.sm_count = attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.l2_bytes =
      static_cast<std::uint64_t>(attribute(driver, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  facts.memory_bus_bits = static_cast<std::uint32_t>(
      attribute(driver, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  facts.max_sm_clock_khz =
      static_cast<std::uint32_t>(attribute(driver, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  facts.max_memory_clock_khz =
      static_cast<std::uint32_t>(attribute(driver, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  add_sm_limits(driver, device, facts);
  return facts;
}

void add_from_nvml(nvml const& library, device_facts& facts) {
  auto const device = library.device(facts.uuid);
  if (!device) return;
  auto const more = device->facts();
  facts.uuid = device->uuid();
  if (more.max_sm_clock_mhz != 0) facts.max_sm_clock_khz = more.max_sm_clock_mhz * 1000;
  if (more.max_memory_clock_mhz != 0) facts.max_memory_clock_khz = more.max_memory_clock_mhz * 1000;
  // CUDA gives the bus width of a slice, NVML that of the whole chip.
  if (more.memory_bus_bits != 0 && !device->is_slice())
    facts.memory_bus_bits = more.memory_bus_bits;
  facts.mig = more.mig;
}

}  // namespace

std::string uuid_text(CUuuid const& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += byte;
  }
  return text;
}

std::string device_uuid(cuda_driver const& driver, int ordinal) {
  CUdevice device{};
  CUuuid uuid{};
  if (driver.cuDeviceGet == nullptr || driver.cuDeviceGetUuid_v2 == nullptr ||
      driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS ||
      driver.cuDeviceGetUuid_v2(&uuid, device) != CUDA_SUCCESS)
    return {};
  return uuid_text(uuid);
}

driver_facts read_driver_facts(cuda_driver const& driver) {
  auto const library = nvml::open();
  return read_driver_facts(driver, library ? &*library : nullptr);
}

driver_facts read_driver_facts(cuda_driver const& driver, nvml const* library) {
  driver_facts facts;
  if (driver.cuDriverGetVersion != nullptr) driver.cuDriverGetVersion(&facts.cuda_version);
  int count = 0;
  if (driver.cuDeviceGetCount == nullptr || driver.cuDeviceGetCount(&count) != CUDA_SUCCESS)
    return facts;
  if (library != nullptr) facts.version = library->driver_version();
  for (int i = 0; i < count; ++i) {
    facts.devices.push_back(facts_from_driver(driver, i));
    if (library != nullptr) add_from_nvml(*library, facts.devices.back());
  }
  return facts;
}

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/store/gpu_key.hpp"

#include <algorithm>

namespace gpuprof::guest::peaks {
namespace {

/// Without NVML, the driver's own version is unknown. The CUDA version that it supports is a close
/// substitute.
std::string version_of(driver_facts const& driver) {
  if (!driver.version.empty() || driver.cuda_version == 0) return driver.version;
  return "CUDA " + std::to_string(driver.cuda_version / 1000) + "." +
         std::to_string(driver.cuda_version % 1000 / 10);
}

}  // namespace

peaks_key make_key(driver_facts const& driver, device_facts const& device, nvml_facts const& more,
                   std::string_view kernels) {
  bool const is_set = more.application_sm_clock_mhz != more.default_application_sm_clock_mhz;
  return {
      .uuid = device.uuid,
      .driver_version = version_of(driver),
      .kernels = std::string(kernels),
      .power_limit_w = more.power_limit_w,
      .max_sm_clock_mhz = device.max_sm_clock_khz / 1000,
      .max_memory_clock_mhz = device.max_memory_clock_khz / 1000,
      .application_sm_clock_mhz = is_set ? more.application_sm_clock_mhz : 0,
      .ecc = more.ecc,
      .sm_count = static_cast<std::uint32_t>(device.sm_count),
      .memory_bytes = device.memory_bytes,
  };
}

chip_facts chip_facts_of(device_facts const& device, nvml_facts const& more) {
  chip_facts chip{
      .compute_major = device.compute_major,
      .compute_minor = device.compute_minor,
      .sm_count = static_cast<std::uint32_t>(device.sm_count),
      .max_sm_clock_mhz = device.max_sm_clock_khz / 1000.0,
      .max_memory_clock_mhz = device.max_memory_clock_khz / 1000.0,
      .memory_bus_bits = device.memory_bus_bits,
  };
  if (more.c2c_links == 0) {
    // In virtual machines, the maximum link is reported for a bridge that does not exist.
    chip.pcie_generation = std::max(more.max_pcie_generation, more.pcie_generation);
    chip.pcie_width = std::max(more.max_pcie_width, more.pcie_width);
  }
  return chip;
}

}  // namespace gpuprof::guest::peaks

// SPDX-License-Identifier: Apache-2.0
// Describes every GPU this process can see, as plain values.
#pragma once

#include "guest/driver/cuda_driver.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::guest {

class nvml;

/// 0 or empty: not known.
struct device_facts {
  int ordinal = 0;  // CUDA ordinal, under CUDA_VISIBLE_DEVICES
  std::string name, uuid, pci_bus;
  int compute_major = 0, compute_minor = 0;
  int sm_count = 0;
  std::uint32_t max_sm_clock_khz = 0, max_memory_clock_khz = 0, memory_bus_bits = 0;
  std::uint64_t memory_bytes = 0, l2_bytes = 0;
  // Limits of each SM; reserved_shared_bytes is what the driver reserves in each block.
  std::uint32_t max_threads_per_sm = 0, max_blocks_per_sm = 0, registers_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0, reserved_shared_bytes = 0;
  bool mig = false;
};

struct driver_facts {
  int cuda_version = 0;  // 13000 for 13.0
  std::string version;   // "580.159.03"
  std::vector<device_facts> devices;
};

/// cuInit must have run. Only queries; creates no context. If `library` is null, values that only
/// NVML knows are missing.
driver_facts read_driver_facts(cuda_driver const&, nvml const* library);
/// The same; opens NVML while it runs.
driver_facts read_driver_facts(cuda_driver const&);

/// Returns for example "GPU-1b2c3d4e-...", as nvidia-smi writes it.
std::string uuid_text(CUuuid const&);
/// Returns an empty string if the driver does not tell.
std::string device_uuid(cuda_driver const&, int ordinal);

}  // namespace gpuprof::guest

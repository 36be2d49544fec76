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
  // Of each SM; the last of each block, kept by the driver.
  std::uint32_t max_threads_per_sm = 0, max_blocks_per_sm = 0, registers_per_sm = 0;
  std::uint32_t shared_bytes_per_sm = 0, reserved_shared_bytes = 0;
  bool mig = false;
};

struct driver_facts {
  int cuda_version = 0;  // 13000 for 13.0
  std::string version;   // "580.159.03"
  std::vector<device_facts> devices;
};

/// cuInit must have run. Only queries; creates no context. `library` null: without what only NVML
/// knows.
driver_facts read_driver_facts(cuda_driver const&, nvml const* library);
/// Opens NVML for as long as it takes.
driver_facts read_driver_facts(cuda_driver const&);

/// "GPU-1b2c3d4e-...", the way nvidia-smi writes it.
std::string uuid_text(CUuuid const&);
/// Empty: the driver does not say.
std::string device_uuid(cuda_driver const&, int ordinal);

}  // namespace gpuprof::guest

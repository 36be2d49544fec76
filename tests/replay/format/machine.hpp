// SPDX-License-Identifier: Apache-2.0
// The machine a session was recorded on, as the fake driver and the fake NVML present it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::replay {

/// Names the session whose device facts the fake driver and the fake NVML answer with.
inline constexpr char const* session_variable = "REPLAY_SESSION";

struct fake_device {
  std::string name, uuid, pci_bus, chip;
  int compute_major = 0, compute_minor = 0, sm_count = 0;
  unsigned max_sm_clock_khz = 0, max_memory_clock_khz = 0, memory_bus_bits = 0;
  std::uint64_t memory_bytes = 0, l2_bytes = 0;
};

struct fake_machine {
  int cuda_version = 0;        // 13000
  std::string driver_version;  // "580.159.03"
  std::vector<fake_device> devices;
};

/// Read once from that session; no devices when there is none.
fake_machine const& this_machine() noexcept;

/// 16 bytes of "GPU-1b2c3d4e-...".
std::vector<unsigned char> uuid_bytes(std::string const& text);

}  // namespace gpuprof::replay

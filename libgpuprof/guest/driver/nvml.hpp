// SPDX-License-Identifier: Apache-2.0
// NVML, the library behind nvidia-smi, opened by dlopen: finds GPUs in it, and says of a GPU or MIG
// slice what it is and what it does at the moment.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest {

struct nvml_functions;

/// Properties of a GPU that only NVML knows. 0 or false: unknown.
struct nvml_facts {
  std::uint32_t max_sm_clock_mhz = 0;
  std::uint32_t max_memory_clock_mhz = 0;
  std::uint32_t memory_bus_bits = 0;  // of the whole chip
  std::uint32_t power_limit_w = 0;    // the enforced limit
  std::uint32_t application_sm_clock_mhz = 0, default_application_sm_clock_mhz = 0;
  bool ecc = false;
  bool mig = false;  // MIG mode is on
  /// The highest that GPU and slot support together, and the present values: idle links slow down.
  int max_pcie_generation = 0, max_pcie_width = 0;
  int pcie_generation = 0, pcie_width = 0;
  int c2c_links = 0;  // NVLink-C2C to the host: copies do not take the PCIe link
};

/// The present state of a GPU. 0: unknown.
struct chip_reading {
  std::uint32_t sm_clock_mhz = 0, memory_clock_mhz = 0;
  double watts = 0;
  std::uint32_t temperature_c = 0;
  std::uint64_t limiters = 0;  // clocks event reasons, bits as in nvml.h
};

/// Percent of the time in which anything ran, over the last 1/6 second to 1 second.
struct gpu_utilization {
  unsigned gpu = 0, memory = 0;
};

struct gpu_process {
  unsigned pid = 0;
  std::uint64_t memory_bytes = 0;  // 0: not known
};

/// Valid as long as the nvml object that it came from. Any thread.
class nvml_device {
 public:
  /// `chip`: the GPU whose MIG slice `handle` is, or `handle` itself.
  nvml_device(nvml_functions const* table, void* handle, void* chip, std::string uuid) noexcept;

  std::string const& uuid() const noexcept { return uuid_; }
  bool is_slice() const noexcept { return handle_ != chip_; }

  /// Takes milliseconds.
  nvml_facts facts() const noexcept;
  /// Values of the whole chip. Takes 1 to 15 us on an H200.
  chip_reading read() const noexcept;
  /// Energy in mJ since the driver was loaded, updated every 100 ms or so. Takes 4 ms on an H200.
  std::optional<std::uint64_t> energy_mj() const noexcept;
  /// Returns nullopt if NVML cannot tell, as with MIG.
  std::optional<gpu_utilization> utilization() const noexcept;
  /// Returns the processes that compute or draw, each once; in a container often none. nullopt:
  /// NVML cannot tell.
  std::optional<std::vector<gpu_process>> processes() const;

 private:
  nvml_functions const* table_;
  void* handle_;
  void* chip_;
  std::string uuid_;
};

/// Opens NVML, the library behind nvidia-smi, and finds GPUs in it. Its functions are declared here
/// (not every toolkit has nvml.h) and loaded by dlopen.
class nvml {
 public:
  static result<nvml> open();
  nvml(nvml&& other) noexcept;
  nvml& operator=(nvml&&) = delete;
  ~nvml();

  /// "580.159.03"
  std::string driver_version() const;
  /// `uuid`: "GPU-..." or "MIG-...". CUDA does not tell which of these its UUID is, so a slice is
  /// also found under "GPU-...". Returns nullopt if NVML does not know it. Look it up once and keep
  /// the result.
  std::optional<nvml_device> device(std::string const& uuid) const;

 private:
  explicit nvml(nvml_functions const* table) noexcept : table_(table) {}

  nvml_functions const* table_;
};

}  // namespace gpuprof::guest

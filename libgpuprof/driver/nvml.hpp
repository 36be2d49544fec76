// The few NVML functions we use, declared by hand (not every toolkit ships nvml.h) and filled by
// dlopen.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace gpuprof {

/// What NVML alone knows of a GPU. 0 or empty: NVML did not say.
struct nvml_facts {
  std::uint32_t max_sm_clock_mhz = 0;
  std::uint32_t max_memory_clock_mhz = 0;
  std::uint32_t memory_bus_bits = 0;
};

class nvml {
 public:
  static result<nvml> open();
  nvml(nvml&& other) noexcept;
  nvml& operator=(nvml&&) = delete;
  ~nvml();

  /// "580.159.03"
  std::string driver_version() const;
  /// `uuid` as "GPU-...", or "MIG-...".
  nvml_facts facts_of(std::string const& uuid) const;
  /// Whether MIG is on for this GPU; false also when NVML cannot tell.
  bool mig_enabled(std::string const& uuid) const;

 private:
  struct functions;
  explicit nvml(functions const* table) noexcept : table_(table) {}

  functions const* table_;
};

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Opens NVML, the library behind nvidia-smi, and finds GPUs in it; declared by hand (not every
// toolkit ships nvml.h) and filled by dlopen.
#pragma once

#include "base/result.hpp"
#include "guest/driver/nvml_device.hpp"

#include <optional>
#include <string>

namespace gpuprof::guest {

class nvml {
 public:
  static result<nvml> open();
  nvml(nvml&& other) noexcept;
  nvml& operator=(nvml&&) = delete;
  ~nvml();

  /// "580.159.03"
  std::string driver_version() const;
  /// `uuid` as "GPU-..." or "MIG-...": CUDA does not say which of the two its UUID is, so that a
  /// slice is also found under "GPU-...". Empty: NVML does not know it. Look up once and keep.
  std::optional<nvml_device> device(std::string const& uuid) const;

 private:
  explicit nvml(nvml_functions const* table) noexcept : table_(table) {}

  nvml_functions const* table_;
};

}  // namespace gpuprof::guest

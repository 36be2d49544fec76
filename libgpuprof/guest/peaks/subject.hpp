// SPDX-License-Identifier: Apache-2.0
// A GPU that is to be measured, and what is known of it before anything runs on it.
#pragma once

#include "guest/driver/device_facts.hpp"
#include "guest/driver/nvml.hpp"
#include "model/peaks.hpp"

#include <optional>

namespace gpuprof::peaks {

struct subject {
  driver_facts driver;
  device_facts facts;
  std::optional<nvml> library;  // empty: there is no NVML
  std::optional<nvml_device> device;
  nvml_facts more;

  peaks_key key() const;
};

/// Initialises the driver; opens no context. `ordinal` is CUDA's, under CUDA_VISIBLE_DEVICES.
result<subject> find_subject(int ordinal);

}  // namespace gpuprof::peaks

// SPDX-License-Identifier: Apache-2.0
// Opens CUPTI's counter functions for code outside the layers that know CUPTI. Finds chips by the
// name that the user or the driver gives.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/loader.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gpuprof::guest {

// Finds a chip by the name that the user or the driver gives.

/// Returns the chip of that name among `chips`, ignoring case. The error is one line with the
/// nearest name and all names.
result<std::string> chip_named(std::string_view name, std::span<std::string const> chips);

/// Returns the chip of GPUs with this compute capability, for use if CUPTI does not name it. If
/// several chips share one, returns the largest. Empty if not known.
std::string_view chip_of_compute_capability(int major, int minor) noexcept;

/// Holds libcupti and the libnvperf_host beside it. Needs no GPU. Must outlive everything made from
/// api().
class counter_library {
 public:
  static result<counter_library> open();

  cupti_api const& api() const noexcept { return cupti_.api; }
  std::string version() const { return cupti_version_text(cupti_.version); }

 private:
  explicit counter_library(loaded_cupti cupti) : cupti_(std::move(cupti)) {}

  loaded_cupti cupti_;
};

/// Returns the chip that CUPTI names for a GPU, else the one of its compute capability, or empty if
/// not known. cuInit must have been called. `driver_major`: CUDA major version of the driver, as
/// for load_cupti().
std::string chip_of_gpu(int ordinal, unsigned driver_major, int compute_major, int compute_minor);

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// CUPTI opened for its counters, for code outside the layers that know CUPTI; and chips by what the
// user or the driver calls them.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/loader.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace gpuprof::guest {

// Finds a chip by what the user or the driver calls it.

/// The chip of that name among `chips`, in whatever case it was written; else one line with the
/// nearest name and all names.
result<std::string> chip_named(std::string_view name, std::span<std::string const> chips);

/// The chip that GPUs of a compute capability have, for where CUPTI does not say. Several chips may
/// share one: then this is the largest of them. Empty: not known.
std::string_view chip_of_compute_capability(int major, int minor) noexcept;

/// libcupti, and libnvperf_host beside it. Needs no GPU. Must outlive all that was made from api().
class counter_library {
 public:
  static result<counter_library> open();

  cupti_api const& api() const noexcept { return cupti_.api; }
  std::string version() const { return cupti_version_text(cupti_.version); }

 private:
  explicit counter_library(loaded_cupti cupti) : cupti_(std::move(cupti)) {}

  loaded_cupti cupti_;
};

/// The chip of a GPU by CUPTI's own word, else by its compute capability; empty: not known. cuInit
/// must have run. `driver_major`: CUDA major version of the driver, as for load_cupti().
std::string chip_of_gpu(int ordinal, unsigned driver_major, int compute_major, int compute_minor);

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// CUPTI opened for its counters, for those outside the rooms that know CUPTI.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/loader.hpp"

#include <string>
#include <utility>

namespace gpuprof::guest {

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

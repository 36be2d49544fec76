// SPDX-License-Identifier: Apache-2.0
// Finds the one libcupti this process should use, and opens it.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/api.hpp"

#include <string>
#include <vector>

namespace gpuprof::guest {

struct loaded_cupti {
  cupti_api api;
  void* library = nullptr;
  std::string path;         // absolute
  unsigned version = 0;     // cuptiGetVersion()
  bool was_mapped = false;  // the program had loaded it before us
};

/// Search order: the libcupti that is already mapped (two in one process would conflict),
/// GPUPROF_CUPTI_PATH (file or folder), the soname in the loader's search path, folders of pip
/// wheels beside mapped CUDA libraries, folders of a toolkit, nvidia-cuda-cupti among the Python
/// packages in use. `driver_major`: CUDA major version of the driver, 0: unknown; a libcupti newer
/// than the driver is tried last. The library stays open until the process ends.
result<loaded_cupti> load_cupti(unsigned driver_major);

/// Opens libnvperf_host beside that libcupti, which needs it for counters: libcupti looks for it by
/// its bare name, which fails inside a pip wheel. It has 32 MB, so call this only if counters are
/// wanted. Without it the first call of the counters group returns CUPTI_ERROR_NOT_INITIALIZED.
void open_nvperf_host(loaded_cupti const& cupti);

/// Returns the places that load_cupti() would try, in order; for `gpuprof status`.
std::vector<std::string> cupti_candidates(unsigned driver_major);

}  // namespace gpuprof::guest

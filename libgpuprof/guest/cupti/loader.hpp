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
  bool was_mapped = false;  // the program had it loaded before us
};

/// Order: the libcupti already mapped (two in one process would fight), GPUPROF_CUPTI_PATH (file or
/// folder), the soname through the loader's search path, folders of pip wheels beside mapped CUDA
/// libraries, folders of a toolkit, nvidia-cuda-cupti among the Python packages in use.
/// `driver_major`: CUDA major version of the driver; a newer libcupti than the driver is tried
/// last. 0: not known. The library stays open for the life of the process.
result<loaded_cupti> load_cupti(unsigned driver_major);

/// Opens libnvperf_host beside that libcupti, which counters need: libcupti itself looks for it by
/// bare name, in vain inside a pip wheel. 32 MB, so only when counters are wanted. Without it the
/// first call of the counters group answers CUPTI_ERROR_NOT_INITIALIZED.
void open_nvperf_host(loaded_cupti const& cupti);

/// The places load_cupti() would try, in order; for `gpuprof status`.
std::vector<std::string> cupti_candidates(unsigned driver_major);

}  // namespace gpuprof::guest

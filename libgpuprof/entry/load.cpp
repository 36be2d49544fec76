// SPDX-License-Identifier: Apache-2.0
// What happens when the library is loaded: two environment variables point CUDA and NVTX to it, and
// what the process was given is remembered before the program changes it. Nothing else.
#include "base/process.hpp"
#include "base/process_cpus.hpp"
#include "base/standard_error.hpp"

#include <cstdlib>
#include <string>

namespace {

// LD_PRELOAD and linking thus come in through the same doors as CUDA_INJECTION64_PATH: at cuInit,
// and at a program's first NVTX call. A path that somebody has set stays.
__attribute__((constructor)) void point_cuda_and_nvtx_here() noexcept {
  if (gpuprof::has_rights_of_others()) return;
  gpuprof::remember_standard_error();
  gpuprof::remember_cpus_of_process();
  try {
    auto const path =
        gpuprof::path_of_object_holding(reinterpret_cast<void const*>(&point_cuda_and_nvtx_here));
    if (path.empty() || path.find("libgpuprof") == std::string::npos) return;
    setenv("CUDA_INJECTION64_PATH", path.c_str(), 0);
    setenv("NVTX_INJECTION64_PATH", path.c_str(), 0);
  } catch (...) {  // no memory this early: the program goes on without us
  }
}

}  // namespace

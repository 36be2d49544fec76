// SPDX-License-Identifier: Apache-2.0
// The functions that the CUDA driver and NVTX call to let a tool in.
#include "nvtx/injection.hpp"

#include "entry/guarded.hpp"
#include "session/process_profiler.hpp"

#define GPUPROF_EXPORT __attribute__((visibility("default")))

/// Called by the driver inside cuInit, once, on the program's thread.
extern "C" GPUPROF_EXPORT int InitializeInjection(void) {
  return gpuprof::guarded(1, [] {
    gpuprof::process_profiler::get().cuda_initialised();
    return 1;
  });
}

/// Called by each shared object that uses NVTX at its first NVTX call. Make no NVTX call in here:
/// the caller is waiting.
extern "C" GPUPROF_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  return gpuprof::guarded(0, [get_export_table] {
    auto& profiler = gpuprof::process_profiler::get();
    if (!profiler.wants_nvtx()) return 0;
    profiler.nvtx_used();
    return gpuprof::inject_nvtx(get_export_table);
  });
}

/// The same for NVTX's extensions. Its parameter type is hidden in NVTX's headers, which would hide
/// this function too.
extern "C" GPUPROF_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return gpuprof::guarded(0, [module] {
    auto& profiler = gpuprof::process_profiler::get();
    if (!profiler.wants_nvtx()) return 0;
    profiler.nvtx_used();
    return gpuprof::inject_nvtx_extension(module);
  });
}

// SPDX-License-Identifier: Apache-2.0
// The functions that the CUDA driver and NVTX call to let a tool in.
#include "guest/nvtx/injection.hpp"

#include "base/child_log.hpp"
#include "guest/entry/guarded.hpp"
#include "guest/entry/load.hpp"
#include "guest/session/inert_child.hpp"
#include "guest/session/process_profiler.hpp"

#include <atomic>

#define GPUPROF_EXPORT __attribute__((visibility("default")))

namespace {

/// CUDA begins in a child whose parent has used CUPTI, which is not prepared for that.
void say_child_is_not_profiled() noexcept {
  static std::atomic<bool> said{false};
  if (gpuprof::has_rights_of_others() || !gpuprof::first_time(said)) return;
  gpuprof::log_in_inert_child(gpuprof::log_level::warning, gpuprof::inert_child_line().text());
}

void say_what_is_not_shared() {
  static std::atomic<bool> said{false};
  if (gpuprof::first_time(said))
    gpuprof::log_info(
        "this program is linked against libcupti, which is not shared with it: a profiler of its "
        "own (torch.profiler) and this capture exclude each other. Preload libgpuprof_preload.so "
        "instead of libgpuprof.so, and both record");
}

}  // namespace

/// Called by the driver inside cuInit, once, on the program's thread.
extern "C" GPUPROF_EXPORT int InitializeInjection(void) {
  if (gpuprof::is_forked_child()) say_child_is_not_profiled();
  return gpuprof::guarded(1, [] {
    if (gpuprof::injection_is_left_over()) return 1;
    auto& profiler = gpuprof::process_profiler::get();
    if (gpuprof::cupti_is_out_of_reach()) say_what_is_not_shared();
    profiler.cuda_initialised();
    return 1;
  });
}

/// Called by each shared object that uses NVTX at its first NVTX call. Make no NVTX call in here:
/// the caller is waiting.
extern "C" GPUPROF_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  return gpuprof::guarded(0, [get_export_table] {
    if (gpuprof::injection_is_left_over()) return 0;
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
    if (gpuprof::injection_is_left_over()) return 0;
    auto& profiler = gpuprof::process_profiler::get();
    if (!profiler.wants_nvtx()) return 0;
    profiler.nvtx_used();
    return gpuprof::inject_nvtx_extension(module);
  });
}

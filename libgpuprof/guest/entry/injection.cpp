// SPDX-License-Identifier: Apache-2.0
// How the library gets into a process. When it is loaded, it points CUDA and NVTX to itself by
// environment variables, notes in another variable that it has set them, and remembers properties
// of the process before the program changes them. If libgpuprof.so is preloaded without it, it also
// opens libgpuprof_preload.so. Later the CUDA driver and NVTX call the functions at the end.
#include "guest/nvtx/injection.hpp"

#include "base/log.hpp"
#include "base/process.hpp"
#include "base/quiet_thread.hpp"
#include "base/real_dlsym.hpp"
#include "base/standard_error.hpp"
#include "guest/entry/guarded.hpp"
#include "guest/session/inert_child.hpp"
#include "guest/session/process_profiler.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <string_view>

#define GPUPROF_EXPORT __attribute__((visibility("default")))

namespace gpuprof::guest {
namespace {

constexpr char const* marker = "GPUPROF_SET_INJECTION";
constinit std::atomic<bool> left_over{false};
constinit std::atomic<bool> out_of_reach{false};

/// True if the loader has this library in the global scope: preloaded, linked, or opened with
/// RTLD_GLOBAL. What the driver injects, it opens locally.
bool is_in_global_scope() noexcept {
  auto* const program = dlopen(nullptr, RTLD_LAZY);
  return program != nullptr && real_dlsym()(program, "gpuprof_version") != nullptr;
}

bool is_preloaded_by_name() noexcept {
  char const* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr &&
         std::string_view(preloaded).find("libgpuprof.so") != std::string_view::npos;
}

/// Libraries that are opened later and are linked against libcupti find its names in
/// libgpuprof_preload.so. Libraries that use dlsym, or are linked at the start, do not.
void bring_what_shares_cupti(std::string const& path) {
  auto* const program = dlopen(nullptr, RTLD_LAZY);
  out_of_reach = program != nullptr && real_dlsym()(program, "cuptiSubscribe") != nullptr;
  auto const beside = path.substr(0, path.find_last_of('/') + 1) + "libgpuprof_preload.so";
  (void)dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

// Thus LD_PRELOAD and linking use the same entry points as CUDA_INJECTION64_PATH: cuInit, and the
// program's first NVTX call. A path that is already set stays.
void point_cuda_and_nvtx_here(std::string const& path) noexcept {
  bool const was_set = std::getenv("CUDA_INJECTION64_PATH") != nullptr;
  left_over = was_set && std::getenv(marker) != nullptr && !is_in_global_scope();
  if (!was_set) setenv(marker, "1", 1);
  setenv("CUDA_INJECTION64_PATH", path.c_str(), 0);
  setenv("NVTX_INJECTION64_PATH", path.c_str(), 0);
}

__attribute__((constructor)) void loaded() noexcept {
  if (has_rights_of_others()) return;
  auto const saved_errno = errno;
  remember_standard_error();
  remember_cpus_of_process();
  try {
    auto const path = path_of_object_holding(reinterpret_cast<void const*>(&loaded));
    if (path.empty() || path.find("libgpuprof") == std::string::npos) return;
    point_cuda_and_nvtx_here(path);
    if (is_preloaded_by_name()) bring_what_shares_cupti(path);
  } catch (...) {  // no memory: the program continues without us
  }
  dlerror();
  errno = saved_errno;
}

/// True if LD_PRELOAD names libgpuprof.so and the program is linked against libcupti: its calls of
/// CUPTI do not come through libgpuprof_preload.so.
bool cupti_is_out_of_reach() noexcept {
  return out_of_reach.load(std::memory_order_relaxed);
}

/// True if this process has inherited the injection variables from a process where the library was
/// preloaded or linked, but is not preloaded or linked here.
bool injection_is_left_over() noexcept {
  return left_over.load(std::memory_order_relaxed);
}

}  // namespace
}  // namespace gpuprof::guest

namespace {

/// Called when CUDA starts in a child whose parent has used CUPTI, which does not support that.
void say_child_is_not_profiled() noexcept {
  static std::atomic<bool> said{false};
  if (gpuprof::has_rights_of_others() || !gpuprof::first_time(said)) return;
  gpuprof::log_in_inert_child(gpuprof::log_level::warning,
                              gpuprof::guest::inert_child_line().text());
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
  return gpuprof::guest::guarded(1, [] {
    if (gpuprof::guest::injection_is_left_over()) return 1;
    auto& profiler = gpuprof::guest::process_profiler::get();
    if (gpuprof::guest::cupti_is_out_of_reach()) say_what_is_not_shared();
    profiler.cuda_initialized();
    return 1;
  });
}

/// Called by each shared object that uses NVTX at its first NVTX call. Make no NVTX call in here:
/// the caller is waiting.
extern "C" GPUPROF_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  return gpuprof::guest::guarded(0, [get_export_table] {
    if (gpuprof::guest::injection_is_left_over()) return 0;
    auto& profiler = gpuprof::guest::process_profiler::get();
    if (!profiler.wants_nvtx()) return 0;
    profiler.nvtx_used();
    return gpuprof::guest::inject_nvtx(get_export_table);
  });
}

/// The same for NVTX extensions. NVTX's headers hide its parameter type, which would hide this
/// function too.
extern "C" GPUPROF_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return gpuprof::guest::guarded(0, [module] {
    if (gpuprof::guest::injection_is_left_over()) return 0;
    auto& profiler = gpuprof::guest::process_profiler::get();
    if (!profiler.wants_nvtx()) return 0;
    profiler.nvtx_used();
    return gpuprof::guest::inject_nvtx_extension(module);
  });
}

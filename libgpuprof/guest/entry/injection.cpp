// SPDX-License-Identifier: Apache-2.0
// How the library comes into a process. When it is loaded it points CUDA and NVTX here by
// environment variables, notes in another one that it has set them, and remembers what the process
// was given before the program changes it. If it is preloaded alone, it opens libgpuprof_preload.so
// as well. Then the CUDA driver and NVTX call the functions at the end.
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

/// The loader has it for the whole program: preloaded, linked, or opened with RTLD_GLOBAL. The
/// driver opens what it injects for itself.
bool is_in_global_scope() noexcept {
  auto* const program = dlopen(nullptr, RTLD_LAZY);
  return program != nullptr && real_dlsym()(program, "gpuprof_version") != nullptr;
}

bool is_preloaded_by_name() noexcept {
  char const* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr &&
         std::string_view(preloaded).find("libgpuprof.so") != std::string_view::npos;
}

/// Libraries that the program opens later and that are linked against libcupti find its names
/// there. What asks dlsym, or is linked at the start, does not.
void bring_what_shares_cupti(std::string const& path) {
  auto* const program = dlopen(nullptr, RTLD_LAZY);
  out_of_reach = program != nullptr && real_dlsym()(program, "cuptiSubscribe") != nullptr;
  auto const beside = path.substr(0, path.find_last_of('/') + 1) + "libgpuprof_preload.so";
  (void)dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

// LD_PRELOAD and linking thus come in through the same doors as CUDA_INJECTION64_PATH: at cuInit,
// and at a program's first NVTX call. A path that somebody has set stays.
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
  } catch (...) {  // no memory this early: the program goes on without us
  }
  dlerror();
  errno = saved_errno;
}

/// LD_PRELOAD names libgpuprof.so, and the program is linked against libcupti: its calls of CUPTI
/// do not come through libgpuprof_preload.so.
bool cupti_is_out_of_reach() noexcept {
  return out_of_reach.load(std::memory_order_relaxed);
}

/// The injection variables were set by the library for another process, from which this one has
/// inherited them: it was preloaded or linked there, and is neither here.
bool injection_is_left_over() noexcept {
  return left_over.load(std::memory_order_relaxed);
}

}  // namespace
}  // namespace gpuprof::guest

namespace {

/// CUDA begins in a child whose parent has used CUPTI, which is not prepared for that.
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

/// The same for NVTX's extensions. Its parameter type is hidden in NVTX's headers, which would hide
/// this function too.
extern "C" GPUPROF_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  return gpuprof::guest::guarded(0, [module] {
    if (gpuprof::guest::injection_is_left_over()) return 0;
    auto& profiler = gpuprof::guest::process_profiler::get();
    if (!profiler.wants_nvtx()) return 0;
    profiler.nvtx_used();
    return gpuprof::guest::inject_nvtx_extension(module);
  });
}

// SPDX-License-Identifier: Apache-2.0
// Runs when the library is loaded. It points CUDA and NVTX here by environment variables, notes in
// another one that it has set them, and remembers what the process was given before the program
// changes it. If it is preloaded alone, it opens libgpuprof_preload.so as well.
#include "guest/entry/load.hpp"

#include "base/process.hpp"
#include "base/process_cpus.hpp"
#include "base/real_dlsym.hpp"
#include "base/standard_error.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <string_view>

namespace gpuprof {
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

}  // namespace

bool cupti_is_out_of_reach() noexcept {
  return out_of_reach.load(std::memory_order_relaxed);
}

bool injection_is_left_over() noexcept {
  return left_over.load(std::memory_order_relaxed);
}

}  // namespace gpuprof

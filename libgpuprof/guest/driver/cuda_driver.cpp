// SPDX-License-Identifier: Apache-2.0
#include "guest/driver/cuda_driver.hpp"

#include <atomic>
#include <dlfcn.h>

namespace gpuprof::guest {

result<cuda_driver> load_cuda_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    char const* const reason = dlerror();
    return error{std::string("there is no CUDA driver (") +
                 (reason != nullptr ? reason : "libcuda.so.1") + ")"};
  }
  cuda_driver driver;
#define GPUPROF_RESOLVE(name) \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(library, #name));
  GPUPROF_DRIVER_FUNCTIONS(GPUPROF_RESOLVE)
#undef GPUPROF_RESOLVE
  return driver;
}

namespace {

// Finds a function in a driver that the program has loaded; does not keep the driver loaded.
template <typename Function>
Function loaded_function(char const* name) noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  auto const function = reinterpret_cast<Function>(dlsym(library, name));
  dlclose(library);
  return function;
}

std::atomic<decltype(&::cuDevicePrimaryCtxGetState)> primary_context_state{nullptr};

}  // namespace

bool cuda_is_up() noexcept {
  auto const count = loaded_function<decltype(&::cuDeviceGetCount)>("cuDeviceGetCount");
  int gpus = 0;
  return count != nullptr && count(&gpus) != CUDA_ERROR_NOT_INITIALIZED;
}

void find_primary_context_state() noexcept {
  auto const name = "cuDevicePrimaryCtxGetState";
  primary_context_state.store(loaded_function<decltype(&::cuDevicePrimaryCtxGetState)>(name));
}

bool primary_context_is_active(int device) noexcept {
  auto const state = primary_context_state.load();
  unsigned flags = 0;
  int is_active = 1;
  return state == nullptr || state(device, &flags, &is_active) != CUDA_SUCCESS || is_active != 0;
}

int driver_cuda_version() noexcept {
  try {
    auto const driver = load_cuda_driver();
    int version = 0;
    if (driver && driver->cuDriverGetVersion != nullptr) driver->cuDriverGetVersion(&version);
    return version;
  } catch (...) {
    return 0;
  }
}

}  // namespace gpuprof::guest

#include "driver/cuda_driver.hpp"

#include <atomic>
#include <dlfcn.h>

namespace gpuprof {

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

bool cuda_is_up() noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  auto const count =
      reinterpret_cast<decltype(&::cuDeviceGetCount)>(dlsym(library, "cuDeviceGetCount"));
  int gpus = 0;
  return count != nullptr && count(&gpus) != CUDA_ERROR_NOT_INITIALIZED;
}

namespace {

std::atomic<decltype(&::cuDevicePrimaryCtxGetState)> primary_context_state{nullptr};

}  // namespace

void find_primary_context_state() noexcept {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  primary_context_state.store(reinterpret_cast<decltype(&::cuDevicePrimaryCtxGetState)>(
      dlsym(library, "cuDevicePrimaryCtxGetState")));
  dlclose(library);
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

}  // namespace gpuprof

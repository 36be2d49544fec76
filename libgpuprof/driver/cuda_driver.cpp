#include "driver/cuda_driver.hpp"

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

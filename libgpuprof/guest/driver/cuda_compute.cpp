// SPDX-License-Identifier: Apache-2.0
#include "guest/driver/cuda_compute.hpp"

#include <dlfcn.h>

namespace gpuprof::guest {

result<cuda_compute> load_cuda_compute() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    char const* const reason = dlerror();
    return error{std::string("there is no CUDA driver (") +
                 (reason != nullptr ? reason : "libcuda.so.1") + ")"};
  }
  cuda_compute table;
  char const* missing = nullptr;
#define GPUPROF_RESOLVE(name)                                                 \
  table.name = reinterpret_cast<decltype(table.name)>(dlsym(library, #name)); \
  if (table.name == nullptr) missing = #name;
  GPUPROF_COMPUTE_FUNCTIONS(GPUPROF_RESOLVE)
#undef GPUPROF_RESOLVE
  if (missing != nullptr) {
    return error{std::string("the CUDA driver is too old: it has no ") + missing +
                 ". Peaks need one of CUDA 12 or later"};
  }
  return table;
}

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// A library of a program that links libgpuprof: the program itself does not.
#include <gpuprof/gpuprof.h>

#include <cstdio>
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) int work() {
  auto* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto const begin =
      driver != nullptr ? reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit")) : nullptr;
  if (begin == nullptr) return 1;
  std::printf("cuInit=%d\n", begin(0));
  std::printf("start=%d\n", static_cast<int>(gpuprof_start(nullptr)));
  std::printf("stop=%d\n", static_cast<int>(gpuprof_stop()));
  return 0;
}

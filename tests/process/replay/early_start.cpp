// SPDX-License-Identifier: Apache-2.0
// A part of a program that starts a capture before CUDA is there, as a library to preload.
#include <gpuprof/gpuprof.h>

#include <dlfcn.h>

namespace {

__attribute__((constructor)) void start() {
  auto const begin =
      reinterpret_cast<decltype(&gpuprof_start)>(dlsym(RTLD_DEFAULT, "gpuprof_start"));
  if (begin != nullptr) begin(nullptr);
}

}  // namespace

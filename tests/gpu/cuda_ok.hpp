// SPDX-License-Identifier: Apache-2.0
// For programs that have nothing to do where a call of CUDA fails.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CUDA_OK(call)                                                    \
  do {                                                                   \
    if (cudaError_t const code = (call); code != cudaSuccess) {          \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code)); \
      std::exit(3);                                                      \
    }                                                                    \
  } while (false)

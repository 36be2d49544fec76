// SPDX-License-Identifier: Apache-2.0
// Ends the program with a line on the first CUDA error.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t const code = (call);                                                    \
    if (code != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code)); \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)

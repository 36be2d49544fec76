// SPDX-License-Identifier: Apache-2.0
// What gpu_rewriting launches.
#pragma once

#include <cuda_runtime.h>

#include <vector>

inline constexpr double fma_of_a_launch = 132. * 256 * 1000;

void multiply_and_add(float* out);
void something_else(float* out);
void something_else_on(cudaStream_t stream, float* out);

/// All blocks of one wait for each other, and fill the GPU: with one register more a thread they
/// might not run at once.
struct cooperative_kernel {
  int registers, block, grid;
  double fma;  // of a launch
  cudaError_t (*launch)(float* out, int grid);
};
std::vector<cooperative_kernel> cooperative_kernels();

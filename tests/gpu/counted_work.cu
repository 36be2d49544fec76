// SPDX-License-Identifier: Apache-2.0
#include "counted_work.hpp"

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int blocks = 264, threads = 256, rounds = 20000;

}  // namespace

extern "C" __global__ void counted_fp32_fma(float* out) {
  float x = threadIdx.x, y = 0.999f;
  for (int i = 0; i < rounds; ++i) x = fmaf(x, y, 0.5f);
  if (x == 12345.f) *out = x;
}
extern "C" __global__ void counted_fp32_add_multiply(float* out) {
  float x = threadIdx.x, y = 0.999f;
  for (int i = 0; i < rounds; ++i) x = __fadd_rn(__fmul_rn(x, y), 0.5f);
  if (x == 12345.f) *out = x;
}
extern "C" __global__ void counted_fp64_fma(float* out) {
  double x = threadIdx.x, y = 0.999;
  for (int i = 0; i < rounds; ++i) x = fma(x, y, 0.5);
  if (x == 12345.) *out = static_cast<float>(x);
}
extern "C" __global__ void counted_fp16_pairs(float* out) {
  __half2 x = __floats2half2_rn(0.25f, 0.5f), y = __floats2half2_rn(0.5f, 0.25f);
  for (int i = 0; i < rounds; ++i) x = __hfma2(x, y, y);
  if (__low2float(x) == 12345.f) *out = 1;
}
extern "C" __global__ void counted_copy(uint4 const* from, uint4* to, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = from[i];
}

int counted_work(std::vector<std::string> const& words) {
  int const steps = words.size() > 1 ? std::atoi(words[1].c_str()) : 200;
  std::size_t const bytes = std::size_t{2} << 30;
  uint4 *from = nullptr, *to = nullptr;
  float* out = nullptr;
  if (cudaMalloc(&from, bytes) != cudaSuccess || cudaMalloc(&to, bytes) != cudaSuccess ||
      cudaMalloc(&out, 4) != cudaSuccess || cudaMemset(from, 1, bytes) != cudaSuccess)
    return 1;
  for (int i = 0; i < steps; ++i) {
    counted_fp32_fma<<<blocks, threads>>>(out);
    counted_fp32_add_multiply<<<blocks, threads>>>(out);
    counted_fp64_fma<<<blocks, threads>>>(out);
    counted_fp16_pairs<<<blocks, threads>>>(out);
    counted_copy<<<132 * 16, 512>>>(from, to, bytes / sizeof(uint4));
    // Launches are read where the program waits, as one does that looks at its results.
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  }
  double const once = double{blocks} * threads * rounds;
  std::printf("counted_fp32_fma %.0f\ncounted_fp32_add_multiply %.0f\n", 2 * once, 2 * once);
  std::printf("counted_fp64_fma %.0f\ncounted_fp16_pairs %.0f\n", 2 * once, 4 * once);
  std::printf("counted_copy %.0f\n", 2.0 * static_cast<double>(bytes));
  return 0;
}

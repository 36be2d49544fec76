#include "rewritten_kernels.hpp"

namespace {

__global__ void fma_kernel(float* out) {
  float x = threadIdx.x, y = 0.999f;
  for (int i = 0; i < 1000; ++i) x = fmaf(x, y, 0.5f);
  if (x == 12345.f) *out = x;
}
__global__ void other_kernel(float* out) {
  if (threadIdx.x == 1000) *out = 1;
}

}  // namespace

void multiply_and_add(float* out) {
  fma_kernel<<<132, 256>>>(out);
}
void something_else(float* out) {
  other_kernel<<<1, 32>>>(out);
}
void something_else_on(cudaStream_t stream, float* out) {
  other_kernel<<<1, 32, 0, stream>>>(out);
}

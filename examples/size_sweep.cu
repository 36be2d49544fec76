// SPDX-License-Identifier: Apache-2.0
// A matrix product and a ReLU at many sizes, in ranges that carry their size. Build and run it:
//
//   nvcc -O2 -arch=native -I<prefix>/include size_sweep.cu -o size_sweep -ldl
//   gpuprof profile --metrics auto -o sizes ./size_sweep
//   gpuprof sweep --over payload --range gemm sizes.gpuprof
//   gpuprof sweep --over payload --range relu -o relu.svg sizes.gpuprof
//
// The size is the payload of the outer range; the inner one declares the work, so that there are
// rates even where nothing was counted.
#include <gpuprof/gpuprof.hpp>

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t code, char const* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "size_sweep: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 77 : 1);
}

/// An NVTX range with a number, from here to the end of the scope.
class sized_range {
 public:
  sized_range(char const* name, std::uint64_t size) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    attributes.payload.ullValue = size;
    nvtxRangePushEx(&attributes);
  }
  ~sized_range() { nvtxRangePop(); }
  sized_range(sized_range const&) = delete;
  sized_range& operator=(sized_range const&) = delete;
};

constexpr int tile = 32;

__global__ void gemm(float const* a, float const* b, float* c, int n) {
  __shared__ float a_tile[tile][tile];
  __shared__ float b_tile[tile][tile];
  int const row = blockIdx.y * tile + threadIdx.y;
  int const column = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void relu(float const* x, float* y, std::size_t count) {
  auto const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i] > 0 ? x[i] : 0;
}

void multiply(float const* a, float const* b, float* c, int n) {
  double const size = n;
  sized_range const sized("gemm", static_cast<std::uint64_t>(n));
  gpuprof::scoped_range const work(
      "product", gpuprof::work{2 * size * size * size, 3 * size * size * sizeof(float)});
  gemm<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(a, b, c, n);
}

void rectify(float const* x, float* y, std::size_t count) {
  sized_range const sized("relu", count);
  gpuprof::scoped_range const work(
      "pass", gpuprof::work{0, 2.0 * static_cast<double>(count) * sizeof(float)});
  relu<<<static_cast<unsigned>((count + 255) / 256), 256>>>(x, y, count);
}

}  // namespace

int main() {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no GPU to work on");
  constexpr int largest_product = 4096, calls = 10;
  constexpr std::size_t largest_pass = std::size_t{1} << 26;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  for (float** memory : {&a, &b, &c}) {
    check(cudaMalloc(memory, largest_pass * sizeof(float)), "cudaMalloc");
    check(cudaMemset(*memory, 0, largest_pass * sizeof(float)), "cudaMemset");
  }
  for (int n = 128; n <= largest_product; n *= 2)
    for (int call = 0; call < calls; ++call) multiply(a, b, c, n);
  for (std::size_t count = 1 << 14; count <= largest_pass; count *= 4)
    for (int call = 0; call < calls; ++call) rectify(a, b, count);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "the calls");
  for (float* memory : {a, b, c}) check(cudaFree(memory), "cudaFree");
  std::printf("size_sweep: products of 128 to %d, passes over up to %zu numbers, %d calls each\n",
              largest_product, largest_pass, calls);
  return 0;
}

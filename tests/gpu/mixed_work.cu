// SPDX-License-Identifier: Apache-2.0
#include "mixed_work.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t buffer_bytes = std::size_t{16} << 30;
// 3 to 50 us on an H200: so much is read, or so often added and multiplied.
constexpr std::size_t reads[] = {12 * mib, 40 * mib, 96 * mib, 176 * mib};
constexpr int rounds[] = {700, 3000, 9000, 20000};
constexpr unsigned kinds = 8;

struct machine {
  uint4 const* buffer = nullptr;
  std::size_t offset = 0;  // what is read next was not read for long: it comes from memory
  unsigned* sum = nullptr;
  float* out = nullptr;
};

}  // namespace

template <int Kind>
__global__ void mixed_read(uint4 const* from, std::size_t count, unsigned* sum) {
  unsigned mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    auto const v = __ldcs(from + i);
    mine += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (mine == 12345) *sum = mine;
}

template <int Kind>
__global__ void mixed_fma(float* out, int count) {
  float x = threadIdx.x, y = 0.999f;
  for (int i = 0; i < count; ++i) x = fmaf(x, y, 0.5f);
  if (x == 12345.f) *out = x;
}

namespace {

template <int Kind>
void launch(machine& on) {
  if constexpr (Kind < 4) {
    auto const count = reads[Kind] / sizeof(uint4);
    if (on.offset + reads[Kind] > buffer_bytes) on.offset = 0;
    mixed_read<Kind><<<132 * 8, 512>>>(on.buffer + on.offset / sizeof(uint4), count, on.sum);
    on.offset += reads[Kind];
  } else {
    mixed_fma<Kind><<<132 * 2, 256>>>(on.out, rounds[Kind - 4]);
  }
}

template <int... Kind>
constexpr std::array<void (*)(machine&), sizeof...(Kind)> launchers(
    std::integer_sequence<int, Kind...>) {
  return {&launch<Kind>...};
}

}  // namespace

int mixed_work(std::vector<std::string> const& words) {
  int const count = words.size() > 1 ? std::atoi(words[1].c_str()) : 100'000;
  auto const all = launchers(std::make_integer_sequence<int, kinds>{});
  machine on;
  void* buffer = nullptr;
  if (cudaMalloc(&buffer, buffer_bytes) != cudaSuccess ||
      cudaMemset(buffer, 1, buffer_bytes) != cudaSuccess ||
      cudaMalloc(&on.sum, sizeof *on.sum) != cudaSuccess ||
      cudaMalloc(&on.out, sizeof *on.out) != cudaSuccess)
    return 1;
  on.buffer = static_cast<uint4 const*>(buffer);
  unsigned launched[kinds] = {};
  std::uint64_t random = 1;
  for (int i = 0; i < count; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    auto const kind = static_cast<unsigned>(random >> 33) % kinds;
    all[kind](on);
    ++launched[kind];
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (unsigned kind = 0; kind < kinds; ++kind)
    std::printf("%s<%u> %u %zu\n", kind < 4 ? "mixed_read" : "mixed_fma", kind, launched[kind],
                kind < 4 ? reads[kind] : std::size_t{0});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Peaks of the tensor cores of sm_120a with the kinds of mma.sync that only this chip has: FP8, FP6
// and block-scaled FP4.
//
// Every warp keeps four chains of accumulators active. They share A, but each has its own B: the
// compiler would merge equal products. The check compares with, for each chain:
//   D = iterations * rounds * A * B of the chain
// Word w (of 8) of a row of A or of a column of B is operand_word(format, seed, place), or 0 for
// zero operands, with
//   place of A = row * 8 + w,   place of B = 0x100000 + (chain * 8 + column) * 8 + w
// The first K elements are in the lowest bits of word 0. FP6 has one value per byte. FP4 has a
// scale for each 16 elements: byte j of the scale word of a row or column scales elements 16 j to
// 16 j + 15. It is a ue4m3 number,
//   operand_word(e4m3, seed, place) & 0x7F7F7F7F,
//   places 0x200000 + row for A, 0x300000 + chain * 8 + column for B
// If a.check is set, warp 0 of block 0 stores its accumulators: float (chain * 4 + register) * 32 +
// lane. Register i of a lane is row lane / 4 + (i < 2 ? 0 : 8), column lane % 4 * 2 + i % 2.
#include "guest/peaks/kernels/operands.cuh"
#include "guest/peaks/kernels/span.cuh"

#if defined(__CUDA_ARCH_FEAT_SM120_ALL)

namespace {

using namespace gpuprof::guest::peaks;

constexpr int chains = 4;
constexpr int rounds = 8;  // rounds of all chains in one iteration
constexpr int threads = 256;
constexpr std::uint32_t place_of_b = 0x100000, place_of_scales_a = 0x200000,
                        place_of_scales_b = 0x300000;

__device__ std::uint32_t word(kernel_arguments const& a, operand_format format,
                              std::uint32_t place) {
  return a.zeros != 0 ? 0 : operand_word(format, a.seed, place);
}

__device__ std::uint32_t scale_word(kernel_arguments const& a, std::uint32_t place) {
  return word(a, operand_format::e4m3, place) & 0x7F7F7F7F;
}

/// The part of A, and of B for each chain, that one lane holds. All kinds here have rows of 32
/// bytes, so all fragments have the same layout. Register i holds word `lane in group`, + 4 for the
/// upper half of K. For A, odd i is 8 rows further down.
struct fragments {
  std::uint32_t a[4], b[chains][2];
  std::uint32_t scales_a = 0, scales_b[chains] = {};

  __device__ fragments(kernel_arguments const& arguments, operand_format format) {
    std::uint32_t const group = threadIdx.x % 32 / 4, within = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      a[i] = word(arguments, format, (group + i % 2 * 8) * 8 + within + i / 2 * 4);
#pragma unroll
    for (int c = 0; c < chains; ++c) {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        b[c][i] = word(arguments, format, place_of_b + (c * 8 + group) * 8 + within + i * 4);
    }
  }

  /// PTX ISA, "Block scaling": with thread selectors 0, lanes 0 and 1 of a group of four hold A's
  /// scales of row `group` and row `group` + 8, and lane 0 holds the scales of column `group` of B.
  __device__ void load_scales(kernel_arguments const& arguments) {
    std::uint32_t const group = threadIdx.x % 32 / 4, within = threadIdx.x % 4;
    scales_a = scale_word(arguments, place_of_scales_a + group + within % 2 * 8);
#pragma unroll
    for (int c = 0; c < chains; ++c)
      scales_b[c] = scale_word(arguments, place_of_scales_b + c * 8 + group);
  }
};

#define GPUPROF_MMA_F8F6F4(type)                                                         \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32." type "." type       \
               ".f32 "                                                                   \
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"         \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                          \
               : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[chain][0]), \
                 "r"(f.b[chain][1]))

struct fp8 {
  static constexpr operand_format format = operand_format::e4m3;
  static constexpr bool is_scaled = false;
  static __device__ void multiply(float (&d)[4], fragments const& f, int chain) {
    GPUPROF_MMA_F8F6F4("e4m3");
  }
};

struct fp6 {
  static constexpr operand_format format = operand_format::e3m2;
  static constexpr bool is_scaled = false;
  static __device__ void multiply(float (&d)[4], fragments const& f, int chain) {
    GPUPROF_MMA_F8F6F4("e3m2");
  }
};

struct fp4 {
  static constexpr operand_format format = operand_format::e2m1;
  static constexpr bool is_scaled = true;
  static __device__ void multiply(float (&d)[4], fragments const& f, int chain) {
    asm volatile(
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
        ".f32.e2m1.e2m1.f32.ue4m3 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {0, 0}, %11, {0, 0};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[chain][0]),
          "r"(f.b[chain][1]), "r"(f.scales_a), "r"(f.scales_b[chain]));
  }
};

template <class Kind>
__device__ __forceinline__ void run(kernel_arguments const& a) {
  fragments f(a, Kind::format);
  if constexpr (Kind::is_scaled) f.load_scales(a);
  float d[chains][4] = {};

  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
      for (int c = 0; c < chains; ++c) Kind::multiply(d[c], f, c);
    }
  }
  std::uint32_t fold = 0;
#pragma unroll
  for (int c = 0; c < chains; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) fold = fold * 31 + __float_as_uint(d[c][i]);
  }
  span.end(a, fold);

  if (a.check != 0 && blockIdx.x == 0 && threadIdx.x < 32) {
#pragma unroll
    for (int c = 0; c < chains; ++c) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        static_cast<float*>(a.output)[(c * 4 + i) * 32 + threadIdx.x] = d[c][i];
    }
  }
}

}  // namespace

#define GPUPROF_MMA_KERNEL(name)                                                            \
  extern "C" __global__ void __launch_bounds__(threads) mma120_##name(kernel_arguments a) { \
    run<name>(a);                                                                           \
  }

GPUPROF_MMA_KERNEL(fp8)
GPUPROF_MMA_KERNEL(fp6)
GPUPROF_MMA_KERNEL(fp4)

#endif

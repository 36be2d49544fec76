// SPDX-License-Identifier: Apache-2.0
// Peaks of the tensor cores with mma.sync: all kinds up to sm_89 and on sm_120, and FP64 on sm_90.
//
// Every warp keeps four chains of accumulators active. They share A, but each has its own B: the
// compiler would merge equal products. Operands are matrices computed from their place
// (operands.cuh) and arranged in fragments as in the PTX manual, so that a result can be checked:
//   D = iterations * rounds * A * B of the chain
// A row of A or a column of B has 32 bytes for every type (16 in those of sm_75).
#include "guest/peaks/kernels/operands.cuh"
#include "guest/peaks/kernels/span.cuh"

#include <type_traits>

namespace {

using namespace gpuprof::guest::peaks;

constexpr int chains = 4;
constexpr int rounds = 8;  // rounds of all chains in one iteration
constexpr int threads = 256;
constexpr std::uint32_t place_of_b = 0x100000;  // first place of B's words

/// The fragments of a warp for one shape and type, in 32-bit words.
template <operand_format Format, int RowsOfA, int Words>
struct fragments {
  static constexpr int words_a = RowsOfA / 8 * (Words / 4), words_b = Words / 4;

  static __device__ std::uint32_t word(kernel_arguments const& a, std::uint32_t place) {
    return a.zeros != 0 ? 0 : operand_word(Format, a.seed, place);
  }
  /// Register i holds row `group` (+8 for odd i if A has 16 rows), word `lane in group` + 4 per
  /// half.
  static __device__ void load_a(kernel_arguments const& a, std::uint32_t (&regs)[words_a]) {
    constexpr int halves = RowsOfA / 8;
    auto const group = threadIdx.x % 32 / 4, within = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < words_a; ++i)
      regs[i] = word(a, (group + 8 * (i % halves)) * 8 + within + 4 * (i / halves));
  }
  static __device__ void load_b(kernel_arguments const& a, int chain,
                                std::uint32_t (&regs)[words_b]) {
    auto const group = threadIdx.x % 32 / 4, within = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < words_b; ++i)
      regs[i] = word(a, place_of_b + (chain * 8 + group) * 8 + within + 4 * i);
  }
};

#define GPUPROF_MMA_16(name, shape_types, constraint, value_type, format)                       \
  struct name : fragments<operand_format::format, 16, 8> {                                      \
    using value = value_type;                                                                   \
    static constexpr int words_d = 4;                                                           \
    static __device__ void multiply(value (&d)[4], std::uint32_t const (&a)[4],                 \
                                    std::uint32_t const (&b)[2]) {                              \
      asm volatile("mma.sync.aligned." shape_types                                              \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"           \
                   : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]),          \
                     "+" constraint(d[3])                                                       \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));         \
    }                                                                                           \
  }

GPUPROF_MMA_16(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", "f", float, f16);
GPUPROF_MMA_16(mma_bf16_f32, "m16n8k16.row.col.f32.bf16.bf16.f32", "f", float, bf16);
GPUPROF_MMA_16(mma_tf32_f32, "m16n8k8.row.col.f32.tf32.tf32.f32", "f", float, tf32);
GPUPROF_MMA_16(mma_s8, "m16n8k32.row.col.s32.s8.s8.s32", "r", std::int32_t, s8);
GPUPROF_MMA_16(mma_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", "f", float, e4m3);

/// FP16 accumulators, two per register.
struct mma_f16_acc16 : fragments<operand_format::f16, 16, 8> {
  using value = std::uint32_t;
  static constexpr int words_d = 2;
  static __device__ void multiply(value (&d)[2], std::uint32_t const (&a)[4],
                                  std::uint32_t const (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
        "{%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

// sm_75 has half the K depth.
struct mma_f16_turing : fragments<operand_format::f16, 16, 4> {
  using value = float;
  static constexpr int words_d = 4;
  static __device__ void multiply(value (&d)[4], std::uint32_t const (&a)[2],
                                  std::uint32_t const (&b)[1]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
};

struct mma_f16_acc16_turing : fragments<operand_format::f16, 16, 4> {
  using value = std::uint32_t;
  static constexpr int words_d = 2;
  static __device__ void multiply(value (&d)[2], std::uint32_t const (&a)[2],
                                  std::uint32_t const (&b)[1]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  }
};

struct mma_s8_turing : fragments<operand_format::s8, 8, 4> {
  using value = std::int32_t;
  static constexpr int words_d = 2;
  static __device__ void multiply(value (&d)[2], std::uint32_t const (&a)[1],
                                  std::uint32_t const (&b)[1]) {
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(b[0]));
  }
};

/// A row has K doubles; a lane of A holds column `lane in group` + 4 for each further register pair.
template <int RowsOfA, int K>
struct fragments_f64 {
  using value = double;
  static constexpr int words_a = RowsOfA / 8 * (K / 4), words_b = K / 4, words_d = RowsOfA / 4;

  static __device__ double at(kernel_arguments const& a, std::uint32_t place) {
    return a.zeros != 0 ? 0.0 : __longlong_as_double(static_cast<long long>(operand_f64(a.seed, place)));
  }
  static __device__ void load_a(kernel_arguments const& a, double (&regs)[words_a]) {
    constexpr int halves = RowsOfA / 8;
    auto const group = threadIdx.x % 32 / 4, within = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < words_a; ++i)
      regs[i] = at(a, (group + 8 * (i % halves)) * K + within + 4 * (i / halves));
  }
  static __device__ void load_b(kernel_arguments const& a, int chain, double (&regs)[words_b]) {
    auto const group = threadIdx.x % 32 / 4, within = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < words_b; ++i)
      regs[i] = at(a, place_of_b + (chain * 8 + group) * K + within + 4 * i);
  }
};

struct mma_f64_small : fragments_f64<8, 4> {
  static __device__ void multiply(double (&d)[2], double const (&a)[1], double const (&b)[1]) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a[0]), "d"(b[0]));
  }
};

struct mma_f64_large : fragments_f64<16, 16> {
  static __device__ void multiply(double (&d)[4], double const (&a)[8], double const (&b)[4]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
          "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
  }
};

template <class T>
__device__ std::uint32_t bits_of(T x) {
  if constexpr (sizeof(T) == 8) {
    auto const all = static_cast<std::uint64_t>(__double_as_longlong(x));
    return static_cast<std::uint32_t>(all ^ all >> 32);
  } else if constexpr (std::is_same_v<T, float>) {
    return __float_as_uint(x);
  } else {
    return static_cast<std::uint32_t>(x);
  }
}

/// If a.check is set, warp 0 of block 0 stores its accumulators: word (chain * words_d + register)
/// * 32 + lane.
template <class Mma, class Word>
__device__ __forceinline__ void run_mma(kernel_arguments const& a) {
  Word fragment_a[Mma::words_a], fragment_b[chains][Mma::words_b];
  typename Mma::value d[chains][Mma::words_d] = {};
  Mma::load_a(a, fragment_a);
#pragma unroll
  for (int c = 0; c < chains; ++c) Mma::load_b(a, c, fragment_b[c]);

  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
      for (int c = 0; c < chains; ++c) Mma::multiply(d[c], fragment_a, fragment_b[c]);
    }
  }
  std::uint32_t fold = 0;
#pragma unroll
  for (int c = 0; c < chains; ++c) {
#pragma unroll
    for (int w = 0; w < Mma::words_d; ++w) fold = fold * 31 + bits_of(d[c][w]);
  }
  span.end(a, fold);

  if (a.check != 0 && blockIdx.x == 0 && threadIdx.x < 32) {
#pragma unroll
    for (int c = 0; c < chains; ++c) {
#pragma unroll
      for (int w = 0; w < Mma::words_d; ++w) {
        static_cast<typename Mma::value*>(a.output)[(c * Mma::words_d + w) * 32 + threadIdx.x] =
            d[c][w];
      }
    }
  }
}

}  // namespace

#define GPUPROF_MMA_KERNEL(name, mma, word)                                              \
  extern "C" __global__ void __launch_bounds__(threads) name(kernel_arguments a) {        \
    run_mma<mma, word>(a);                                                                \
  }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
GPUPROF_MMA_KERNEL(mma_turing_fp16, mma_f16_turing, std::uint32_t)
GPUPROF_MMA_KERNEL(mma_turing_fp16_acc16, mma_f16_acc16_turing, std::uint32_t)
GPUPROF_MMA_KERNEL(mma_turing_int8, mma_s8_turing, std::uint32_t)
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
GPUPROF_MMA_KERNEL(mma_fp16, mma_f16, std::uint32_t)
GPUPROF_MMA_KERNEL(mma_fp16_acc16, mma_f16_acc16, std::uint32_t)
GPUPROF_MMA_KERNEL(mma_bf16, mma_bf16_f32, std::uint32_t)
GPUPROF_MMA_KERNEL(mma_tf32, mma_tf32_f32, std::uint32_t)
GPUPROF_MMA_KERNEL(mma_int8, mma_s8, std::uint32_t)
GPUPROF_MMA_KERNEL(mma_fp64, mma_f64_small, double)
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 900
GPUPROF_MMA_KERNEL(mma_fp64_large, mma_f64_large, double)
#endif
// On other chips the compiler emulates FP8 with FP16: sm_90 and sm_100 have FP8 only in wgmma and
// tcgen05.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 890
GPUPROF_MMA_KERNEL(mma_fp8, mma_e4m3, std::uint32_t)
#endif

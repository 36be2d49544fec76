// SPDX-License-Identifier: Apache-2.0
// Peaks of Hopper's tensor cores: wgmma with both operands in shared memory.
//
// A block has two warpgroups, and an SM one block: while one warpgroup waits for its batch, the
// other computes. Each has its own four stages of A and shares four of B, in all 192 KiB of
// distinct operands, so that the operand buses toggle as in real work. A batch is 16
// multiplications of 64 x 256. Odd steps are subtracted if the kind can negate, which keeps sums
// small:
//   D = iterations * sum over stages s and steps k of (+/-) A[s, k] * B[s, k]
// A row of a stage has 128 bytes along K for every type: four steps of 32 bytes.
//
// wait_group 0 ends every batch. If accumulators were read while in flight, ptxas would serialize
// all multiplications (C7514), at a quarter of the speed. The build fails on that message.
#include "guest/peaks/kernels/operands.cuh"
#include "guest/peaks/kernels/span.cuh"

#include <type_traits>

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
namespace {

using namespace gpuprof::guest::peaks;

constexpr int threads = 256;
constexpr int stages = 4, steps = 4;
constexpr int rows_a = 64, rows_b = 256, row_words = 32;
constexpr int stage_bytes_a = rows_a * row_words * 4, stage_bytes_b = rows_b * row_words * 4;
constexpr int bytes_a = stages * stage_bytes_a;         // of one warpgroup
constexpr std::uint32_t place_of_b = 0x100000;          // first place of B's words

__device__ __forceinline__ std::uint32_t shared_address(void const* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// K-major rows of 128 bytes, swizzled: within each group of 8 rows (1024 bytes), the position of a
/// row's 16-byte chunks depends on the row's number.
__device__ __forceinline__ std::uint32_t swizzled(std::uint32_t row, std::uint32_t word) {
  return row * 128 + (((word / 4) ^ (row % 8)) * 16) + word % 4 * 4;
}

/// PTX ISA, "Matrix descriptor": start address / 16, stride between groups of 8 rows / 16, 128-byte
/// swizzle. The leading offset is not used for swizzled K-major operands.
__device__ __forceinline__ std::uint64_t descriptor_of(std::uint32_t address) {
  return std::uint64_t{(address & 0x3FFFF) >> 4} | std::uint64_t{1} << 16 |
         std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

// Operand texts and constraints for 64 and 128 accumulator registers.
#define GPUPROF_TEN(t)                                                                        \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, " \
  "%" #t "9"
#define GPUPROF_TEXT_64                                                                         \
  GPUPROF_TEN() ", " GPUPROF_TEN(1) ", " GPUPROF_TEN(2) ", " GPUPROF_TEN(3) ", " GPUPROF_TEN(4) \
  ", " GPUPROF_TEN(5) ", %60, %61, %62, %63"
#define GPUPROF_TEXT_128                                                                         \
  GPUPROF_TEN() ", " GPUPROF_TEN(1) ", " GPUPROF_TEN(2) ", " GPUPROF_TEN(3) ", " GPUPROF_TEN(4)  \
  ", " GPUPROF_TEN(5) ", " GPUPROF_TEN(6) ", " GPUPROF_TEN(7) ", " GPUPROF_TEN(8) ", "           \
  GPUPROF_TEN(9) ", " GPUPROF_TEN(10) ", " GPUPROF_TEN(11) ", %120, %121, %122, %123, %124, "    \
  "%125, %126, %127"
#define GPUPROF_OUT_8(c, d, i)                                                               \
  "+" c(d[i]), "+" c(d[i + 1]), "+" c(d[i + 2]), "+" c(d[i + 3]), "+" c(d[i + 4]),            \
      "+" c(d[i + 5]), "+" c(d[i + 6]), "+" c(d[i + 7])
#define GPUPROF_OUT_64(c, d, i)                                                              \
  GPUPROF_OUT_8(c, d, i), GPUPROF_OUT_8(c, d, i + 8), GPUPROF_OUT_8(c, d, i + 16),            \
      GPUPROF_OUT_8(c, d, i + 24), GPUPROF_OUT_8(c, d, i + 32), GPUPROF_OUT_8(c, d, i + 40),  \
      GPUPROF_OUT_8(c, d, i + 48), GPUPROF_OUT_8(c, d, i + 56)
#define GPUPROF_OUT_128(c, d) GPUPROF_OUT_64(c, d, 0), GPUPROF_OUT_64(c, d, 64)

// `tail` holds what follows the scale of D: the scales of A and B, and "no transposition" for
// 16-bit types.
#define GPUPROF_WGMMA(name, operand, value_type, registers, c, shape_types, first, second, tail) \
  struct name {                                                                                  \
    using value = value_type;                                                                    \
    static constexpr operand_format format = operand_format::operand;                            \
    static constexpr int words_d = registers;                                                    \
    template <int SignOfA>                                                                       \
    static __device__ __forceinline__ void multiply(value (&d)[registers], std::uint64_t a,      \
                                                    std::uint64_t b) {                           \
      asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; "                                       \
                   "wgmma.mma_async.sync.aligned." shape_types " {" GPUPROF_TEXT_##registers     \
                   "}, %" first ", %" second ", p" tail "; }"                                    \
                   : GPUPROF_WGMMA_OUT_##registers(c, d)                                         \
                   : "l"(a), "l"(b), "n"(SignOfA));                                              \
    }                                                                                            \
  }
#define GPUPROF_WGMMA_OUT_64(c, d) GPUPROF_OUT_64(c, d, 0)
#define GPUPROF_WGMMA_OUT_128(c, d) GPUPROF_OUT_128(c, d)

GPUPROF_WGMMA(kind_bf16, bf16, float, 128, "f", "m64n256k16.f32.bf16.bf16", "128", "129",
              ", %130, 1, 0, 0");
GPUPROF_WGMMA(kind_fp16, f16, float, 128, "f", "m64n256k16.f32.f16.f16", "128", "129",
              ", %130, 1, 0, 0");
GPUPROF_WGMMA(kind_fp16_acc16, f16, std::uint32_t, 64, "r", "m64n256k16.f16.f16.f16", "64", "65",
              ", %66, 1, 0, 0");
GPUPROF_WGMMA(kind_tf32, tf32, float, 128, "f", "m64n256k8.f32.tf32.tf32", "128", "129",
              ", %130, 1");
GPUPROF_WGMMA(kind_fp8, e4m3, float, 128, "f", "m64n256k32.f32.e4m3.e4m3", "128", "129",
              ", %130, 1");
GPUPROF_WGMMA(kind_int8, s8, std::int32_t, 128, "r", "m64n256k32.s32.s8.s8", "128", "129", "");

template <class Kind>
__device__ __forceinline__ std::uint32_t bits_of(typename Kind::value x) {
  if constexpr (std::is_same_v<typename Kind::value, float>) {
    return __float_as_uint(x);
  } else {
    return static_cast<std::uint32_t>(x);
  }
}

/// All blocks make the same operands, so all must have the same sums.
template <class Kind>
__device__ void fill(kernel_arguments const& a, unsigned char* base) {
  auto const word = [&](std::uint32_t place) {
    return a.zeros != 0 ? 0 : operand_word(Kind::format, a.seed, place);
  };
  for (std::uint32_t i = threadIdx.x; i < 2 * bytes_a / 4; i += threads) {
    auto const row = i / row_words, w = i % row_words;  // rows of both warpgroups and all stages
    *reinterpret_cast<std::uint32_t*>(base + swizzled(row, w)) = word(i);
  }
  for (std::uint32_t i = threadIdx.x; i < stages * stage_bytes_b / 4; i += threads) {
    auto const row = i / row_words, w = i % row_words;
    *reinterpret_cast<std::uint32_t*>(base + 2 * bytes_a + swizzled(row, w)) = word(place_of_b + i);
  }
  // wgmma reads through the asynchronous proxy.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// If a.check is set, warpgroup 0 of block 0 stores its accumulators: word register * 128 + thread.
template <class Kind>
__device__ __forceinline__ void run_wgmma(kernel_arguments const& a) {
  extern __shared__ unsigned char raw[];
  auto* const base = raw + (1024 - shared_address(raw) % 1024) % 1024;
  fill<Kind>(a, base);
  auto const warpgroup = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);
  auto const first_a = descriptor_of(shared_address(base) + warpgroup * bytes_a);
  auto const first_b = descriptor_of(shared_address(base) + 2 * bytes_a);
  typename Kind::value d[Kind::words_d] = {};

  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int s = 0; s < stages; ++s) {
      auto const stage_a = first_a + s * (stage_bytes_a >> 4);
      auto const stage_b = first_b + s * (stage_bytes_b >> 4);
#pragma unroll
      for (int k = 0; k < steps; k += 2) {
        Kind::template multiply<1>(d, stage_a + k * 2, stage_b + k * 2);
        Kind::template multiply<-1>(d, stage_a + (k + 1) * 2, stage_b + (k + 1) * 2);
      }
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  std::uint32_t fold = 0;
#pragma unroll
  for (int w = 0; w < Kind::words_d; ++w) fold = fold * 31 + bits_of<Kind>(d[w]);
  span.end(a, fold);

  if (a.check != 0 && blockIdx.x == 0 && threadIdx.x < 128) {
#pragma unroll
    for (int w = 0; w < Kind::words_d; ++w) {
      static_cast<typename Kind::value*>(a.output)[w * 128 + threadIdx.x] = d[w];
    }
  }
}

}  // namespace

#define GPUPROF_WGMMA_KERNEL(name, kind)                                                  \
  extern "C" __global__ void __launch_bounds__(threads, 1) name(kernel_arguments a) {     \
    run_wgmma<kind>(a);                                                                   \
  }

GPUPROF_WGMMA_KERNEL(wgmma_bf16, kind_bf16)
GPUPROF_WGMMA_KERNEL(wgmma_fp16, kind_fp16)
GPUPROF_WGMMA_KERNEL(wgmma_fp16_acc16, kind_fp16_acc16)
GPUPROF_WGMMA_KERNEL(wgmma_tf32, kind_tf32)
GPUPROF_WGMMA_KERNEL(wgmma_fp8, kind_fp8)
GPUPROF_WGMMA_KERNEL(wgmma_int8, kind_int8)
#endif

// SPDX-License-Identifier: Apache-2.0
// Peaks of the tensor cores of sm_100a and sm_103a with tcgen05.mma, M 128 x N 256, from shared
// memory into tensor memory. One block of 128 threads runs on each SM, and one thread issues all
// operations.
//
// Shared memory holds four stages of A (128 rows) and B (256 rows). A row has 128 bytes, so four K
// steps of 32 bytes: 16 MMAs per iteration. The check compares with:
//   D = iterations * sum over stages s and steps k of sign(k) * A_s[:, k] * B_s[:, k]^T
// sign(k) is -1 for odd k, set by the descriptor's negate bit; for int8 and FP4 it is always +1.
// Word w of a row is operand_word(format, seed, place), or 0 for zero operands, with
//   place of A = (s * 128 + row) * 32 + w,   place of B = 0x100000 + (s * 256 + row) * 32 + w
// The first K elements are in the lowest bits of word 0. FP6 has one value per byte, as
// operand_word returns it; the kernel packs the values for the tensor core. FP4 has a scale for
// each 16 elements of a step, the same for all stages and steps: byte j of a row's scale word
// scales elements 16 j to 16 j + 15. It is a ue4m3 number,
//   operand_word(e4m3, seed, place) & 0x7F7F7F7F,  places 0x200000 + row for A, 0x300000 + row for
//   B
// If a.check is set, block 0 stores D row by row: 128 x 256 floats, or 32-bit integers for int8.
//
// Even and odd iterations have separate accumulators, and D is their sum: FP16 and FP32 sums are
// rounded in two halves. FP4 has one accumulator, because its scales need space in tensor memory.
//
// If the tensor core does not respond, the block ends with the fold 0xDEAD instead of hanging.
#include "guest/peaks/kernels/operands.cuh"
#include "guest/peaks/kernels/span.cuh"
#include "guest/peaks/kernels/tcgen05.cuh"

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)

namespace {

using namespace gpuprof::guest::peaks;
using tcgen05::mma_kind;

constexpr int threads = 128;
constexpr int stages = 4, steps = 4;
constexpr int rows_a = 128, rows_b = 256;
constexpr int row_bytes = 128, step_bytes = 32;
constexpr int swizzle_atom_bytes = 1024;  // 8 rows: the 128-byte swizzle repeats
constexpr int dynamic_bytes = stages * (rows_a + rows_b) * row_bytes + swizzle_atom_bytes;
static_assert(dynamic_bytes == 197632, "the code that launches these kernels asks for so much");

constexpr std::uint32_t place_of_b = 0x100000;
constexpr std::uint32_t place_of_scales_a = 0x200000, place_of_scales_b = 0x300000;
constexpr std::uint32_t accumulator_columns = rows_b;
constexpr std::uint32_t scales_a_column = 256, scales_b_column = 288;  // after FP4's accumulator
constexpr std::uint64_t patience = 1ull << 31;  // cycles; a batch takes about 2000
constexpr std::uint32_t late_fold = 0xDEAD;

enum class accumulator : std::uint32_t { f16 = 0, f32 = 1, s32 = 2 };  // the descriptor's codes

template <mma_kind Kind, operand_format Format, std::uint32_t TypeCode, accumulator D>
struct tensor_kind {
  static constexpr mma_kind kind = Kind;
  static constexpr operand_format format = Format;
  static constexpr accumulator d_type = D;
  static constexpr bool is_scaled = Kind == mma_kind::mxf4nvf4;
  static constexpr bool has_signs = Kind != mma_kind::i8 && !is_scaled;
  static constexpr std::uint32_t accumulators = is_scaled ? 1 : 2;

  /// PTX ISA, "Instruction descriptor": bits 4-5 are D's type (for block-scaled kinds the id of B's
  /// scales, 0), 7-9 A's type, 10-12 B's type, 13 negates A, 17-22 are N >> 3, 24-28 M >> 4. All
  /// other bits are 0: dense, K-major, and for block-scaled kinds ue4m3 scales, id 0 of A's scales,
  /// K 64.
  static __device__ constexpr std::uint32_t descriptor(bool negate_a) {
    return (is_scaled ? 0 : static_cast<std::uint32_t>(D)) << 4 | TypeCode << 7 | TypeCode << 10 |
           (negate_a ? 1u : 0u) << 13 | rows_b / 8 << 17 | rows_a / 16 << 24;
  }
};

using bf16 = tensor_kind<mma_kind::f16, operand_format::bf16, 1, accumulator::f32>;
using fp16 = tensor_kind<mma_kind::f16, operand_format::f16, 0, accumulator::f32>;
using fp16_acc16 = tensor_kind<mma_kind::f16, operand_format::f16, 0, accumulator::f16>;
using tf32 = tensor_kind<mma_kind::tf32, operand_format::tf32, 2, accumulator::f32>;
using fp8 = tensor_kind<mma_kind::f8f6f4, operand_format::e4m3, 0, accumulator::f32>;
using fp6 = tensor_kind<mma_kind::f8f6f4, operand_format::e3m2, 4, accumulator::f32>;
using int8 = tensor_kind<mma_kind::i8, operand_format::s8, 1, accumulator::s32>;
using fp4 = tensor_kind<mma_kind::mxf4nvf4, operand_format::e2m1, 1, accumulator::f32>;

/// Packs 16 bytes with one FP6 value each into 16 values of 6 bits and 4 bytes of padding.
__device__ uint4 packed_6_bits(uint4 bytes) {
  auto const packed = [](std::uint32_t w) {
    return (w & 0x3F) | (w & 0x3F00) >> 2 | (w & 0x3F0000) >> 4 | (w & 0x3F000000) >> 6;
  };
  auto const w0 = packed(bytes.x), w1 = packed(bytes.y), w2 = packed(bytes.z), w3 = packed(bytes.w);
  return {w0 | w1 << 24, w1 >> 8 | w2 << 16, w2 >> 16 | w3 << 8, 0};
}

/// Writes rows of 8 chunks of 16 bytes. The swizzle puts chunk c of row r at c ^ (r % 8).
template <class Kind>
__device__ void write_operands(kernel_arguments const& a, unsigned char* to, int rows,
                               std::uint32_t first_place) {
  for (int i = threadIdx.x; i < rows * 8; i += threads) {
    auto const row = i / 8, chunk = i % 8;
    auto const word = [&](int w) {
      return a.zeros != 0 ? 0 : operand_word(Kind::format, a.seed, first_place + i * 4 + w);
    };
    uint4 words{word(0), word(1), word(2), word(3)};
    if constexpr (Kind::format == operand_format::e3m2) words = packed_6_bits(words);
    *reinterpret_cast<uint4*>(to + row * row_bytes + (chunk ^ row % 8) * 16) = words;
  }
}

/// Writes 32 lines of 16 bytes for each 128 rows: row r has word r / 32 of line r % 32. The later
/// copy puts it into column r / 32, lane r % 32 of tensor memory.
__device__ void write_scales(kernel_arguments const& a, std::uint32_t* to, int rows,
                             std::uint32_t first_place) {
  for (int row = threadIdx.x; row < rows; row += threads) {
    auto const word = operand_word(operand_format::e4m3, a.seed, first_place + row) & 0x7F7F7F7F;
    to[row / 128 * 128 + row % 32 * 4 + row % 128 / 32] = a.zeros != 0 ? 0 : word;
  }
}

/// Batch i arrives at barrier i % 2 and ends its phase i / 2. It is issued when batch i - 2 is
/// done, so that two batches are in flight. Called by one thread. Returns false if the tensor core
/// does not respond.
template <class Kind>
__device__ __forceinline__ bool run_batches(std::uint64_t iterations, std::uint32_t tensor_memory,
                                            std::uint64_t a, std::uint64_t b,
                                            std::uint32_t barriers) {
  auto const wait_before = [barriers](std::uint64_t i) {
    auto const phase = static_cast<std::uint32_t>(i >> 1);
    return tcgen05::wait_for(barriers + (i & 1) * 8, (phase & 1) ^ 1, patience);
  };
#pragma unroll 1
  for (std::uint64_t i = 0; i < iterations; ++i) {
    if (!wait_before(i)) return false;
    auto const odd = static_cast<std::uint32_t>(i & 1);
    auto const d = tensor_memory + odd % Kind::accumulators * accumulator_columns;
#pragma unroll
    for (int s = 0; s < stages; ++s) {
#pragma unroll
      for (int k = 0; k < steps; ++k) {
        // Each step starts 32 bytes later in the row, because the swizzle applies to addresses.
        // Offsets are in units of 16 bytes.
        tcgen05::multiply<Kind::kind>(d, a + (s * rows_a * row_bytes + k * step_bytes) / 16,
                                      b + (s * rows_b * row_bytes + k * step_bytes) / 16,
                                      Kind::descriptor(Kind::has_signs && k % 2 != 0),
                                      tensor_memory + scales_a_column,
                                      tensor_memory + scales_b_column);
      }
    }
    tcgen05::commit_to(barriers + odd * 8);
  }
  return wait_before(iterations) && wait_before(iterations + 1);
}

/// Converts one element of D. A 16-bit number is in the lower half of a word of tensor memory.
template <class Kind>
__device__ auto number_of(std::uint32_t word) {
  if constexpr (Kind::d_type == accumulator::s32) {
    return word;  // unsigned, so that sums may wrap
  } else if constexpr (Kind::d_type == accumulator::f32) {
    return __uint_as_float(word);
  } else {
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(static_cast<std::uint16_t>(word)));
    return number;
  }
}

/// Returns the fold of this thread's lane, which is a row of D. If `store` is set, writes the row
/// to `output`.
template <class Kind>
__device__ std::uint32_t read_result(std::uint32_t tensor_memory, void* output, bool store) {
  constexpr std::uint32_t mask = Kind::d_type == accumulator::f16 ? 0xFFFF : 0xFFFFFFFF;
  auto* const row = static_cast<decltype(number_of<Kind>(0))*>(output) + threadIdx.x * rows_b;
  std::uint32_t fold = 0;
#pragma unroll 1
  for (std::uint32_t column = 0; column < accumulator_columns; column += 8) {
    std::uint32_t even[8], odd[8] = {};
    tcgen05::load_columns(tensor_memory + column, even);
    if constexpr (Kind::accumulators == 2)
      tcgen05::load_columns(tensor_memory + accumulator_columns + column, odd);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      fold = (fold * 31 + (even[i] & mask)) * 31 + (odd[i] & mask);
      if (store) row[column + i] = number_of<Kind>(even[i]) + number_of<Kind>(odd[i]);
    }
  }
  return fold;
}

template <class Kind>
__device__ __forceinline__ void run(kernel_arguments const& a) {
  extern __shared__ unsigned char dynamic[];
  __shared__ alignas(128) std::uint32_t scales[Kind::is_scaled ? rows_a + rows_b : 1];
  __shared__ std::uint64_t barriers[2];
  __shared__ std::uint32_t allocated, is_late, folded;
  auto* const operands_a = dynamic + (0 - tcgen05::shared_address(dynamic)) % swizzle_atom_bytes;
  auto* const operands_b = operands_a + stages * rows_a * row_bytes;

  // This block's shared memory leaves no room for a second block, so no other block holds columns.
  if (threadIdx.x < 32) tcgen05::allocate_columns(&allocated);
  if (threadIdx.x == 0) {
    folded = 0;
    for (auto& barrier : barriers) tcgen05::make_barrier(&barrier);
  }
  write_operands<Kind>(a, operands_a, stages * rows_a, 0);
  write_operands<Kind>(a, operands_b, stages * rows_b, place_of_b);
  if constexpr (Kind::is_scaled) {
    write_scales(a, scales, rows_a, place_of_scales_a);
    write_scales(a, scales + rows_a, rows_b, place_of_scales_b);
  }
  tcgen05::fence_for_tensor_core();
  tcgen05::synchronize();
  auto const tensor_memory = allocated;
  tcgen05::clear_columns(tensor_memory);
  tcgen05::synchronize();

  if (threadIdx.x < 32 && tcgen05::is_elected()) {
    if constexpr (Kind::is_scaled) {
      auto const from = tcgen05::shared_address(scales);
      tcgen05::copy_scales(tensor_memory + scales_a_column, from);
      tcgen05::copy_scales(tensor_memory + scales_b_column, from + 512);
      tcgen05::copy_scales(tensor_memory + scales_b_column + 4, from + 1024);
    }
    auto const descriptor_of = [](unsigned char const* matrix) {
      return tcgen05::matrix_descriptor(tcgen05::shared_address(matrix), swizzle_atom_bytes,
                                        tcgen05::swizzle::bytes_128);
    };
    auto const matrix_a = descriptor_of(operands_a), matrix_b = descriptor_of(operands_b);
    auto const start_time = nanosecond_timer(), start_clock = cycle_counter();
    bool const done = run_batches<Kind>(a.iterations, tensor_memory, matrix_a, matrix_b,
                                        tcgen05::shared_address(barriers));
    auto const end_clock = cycle_counter(), end_time = nanosecond_timer();
    a.spans[blockIdx.x] = {start_time, end_time, start_clock, end_clock, sm_number(), late_fold};
    is_late = done ? 0 : 1;
  }
  tcgen05::synchronize();
  if (is_late == 0) {
    auto const store = a.check != 0 && blockIdx.x == 0;
    // Weighted by the thread's number, because a sum of equal values could be zero.
    atomicAdd(&folded, read_result<Kind>(tensor_memory, a.output, store) * (2 * threadIdx.x + 1));
  }
  tcgen05::synchronize();
  if (threadIdx.x < 32) tcgen05::free_columns(tensor_memory);
  if (threadIdx.x == 0 && is_late == 0) a.spans[blockIdx.x].fold = folded;
}

}  // namespace

#define GPUPROF_TCGEN05_KERNEL(name)                                                            \
  extern "C" __global__ void __launch_bounds__(threads, 1) tcgen05_##name(kernel_arguments a) { \
    run<name>(a);                                                                               \
  }

GPUPROF_TCGEN05_KERNEL(bf16)
GPUPROF_TCGEN05_KERNEL(fp16)
GPUPROF_TCGEN05_KERNEL(fp16_acc16)
GPUPROF_TCGEN05_KERNEL(tf32)
GPUPROF_TCGEN05_KERNEL(fp8)
GPUPROF_TCGEN05_KERNEL(fp6)
GPUPROF_TCGEN05_KERNEL(fp4)
#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
GPUPROF_TCGEN05_KERNEL(int8)  // sm_103a has no kind::i8
#endif

#endif

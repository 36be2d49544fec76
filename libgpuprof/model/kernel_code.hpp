// SPDX-License-Identifier: Apache-2.0
// The machine code of a kernel: the classes of its instructions.
#pragma once

#include "model/ids.hpp"

#include <cstdint>

namespace gpuprof {

/// Bit numbers in an instruction_set. Captures store them, so numbers and meanings must not change.
enum class instruction_class : std::uint8_t {
  fp64 = 0,  // CUDA cores: add, multiply, multiply-add
  fp32 = 1,
  fp16 = 2,  // also BF16: the instruction is the same
  // Not counted as FLOP: floats are compared, or MUFU takes a function of them. Not its reciprocal,
  // by which integers are divided, too.
  float_other = 3,

  // Tensor cores, one instruction per warp: mma.sync.
  mma_fp16 = 8,
  mma_bf16 = 9,
  mma_tf32 = 10,
  mma_fp64_m8n8k4 = 11,  // half the rate of larger shapes, on chips that have these
  mma_fp64 = 12,
  mma_fp8 = 13,
  mma_fp6 = 14,  // or FP4 stored as FP6
  mma_fp4 = 15,
  mma_int8 = 16,
  mma_int4 = 17,
  mma_bit = 18,
  // Half as deep as those above (m16n8k8 of 16-bit types, m16n8k4 of TF32, m16n8k16 of 8-bit
  // integers), with fewer operations per cycle. sm_75 has no deeper ones.
  mma_fp16_short = 19,
  mma_bf16_short = 20,
  mma_tf32_short = 21,
  mma_int8_short = 22,

  // One instruction per four warps: wgmma.
  wgmma_fp16 = 24,
  wgmma_bf16 = 25,
  wgmma_tf32 = 26,
  wgmma_fp8 = 27,
  wgmma_int8 = 28,
  wgmma_bit = 29,

  // One thread issues the instruction for all: tcgen05. A register sets the exact type at run time.
  tcgen05_fp16_bf16_tf32 = 32,
  tcgen05_fp8_fp6_fp4 = 33,
  tcgen05_fp4 = 34,
  tcgen05_int8 = 35,

  sparse_tensor = 40,  // in addition to its class: half of the operands are left out as zeros
  narrow_wgmma = 41,   // in addition to its class: fewer than 64 columns

  // Looked for since format 1.6, see kernel_code::tells_kinds.
  shuffle = 48,        // lanes of a warp exchange values: SHFL, REDUX
  barrier = 49,        // warps of a block wait for each other
  add_in_memory = 50,  // atomics on global memory, but for compare-and-swap
  told_kinds = 51,     // only in records: these and `float_other` were looked for
};

class instruction_set {
 public:
  constexpr instruction_set() = default;
  constexpr explicit instruction_set(std::uint64_t bits) noexcept : bits_(bits) {}
  constexpr instruction_set(instruction_class one) noexcept
      : bits_(std::uint64_t{1} << static_cast<unsigned>(one)) {}

  constexpr bool has(instruction_class one) const noexcept {
    return (bits_ & instruction_set(one).bits_) != 0;
  }
  constexpr void insert(instruction_set more) noexcept { bits_ |= more.bits_; }
  constexpr std::uint64_t bits() const noexcept { return bits_; }
  /// Returns only the tensor classes, without `sparse_tensor` and `narrow_wgmma`.
  constexpr instruction_set tensor() const noexcept {
    return instruction_set(bits_ & 0xff'ffff'ff00u);
  }

  friend constexpr bool operator==(instruction_set, instruction_set) = default;

 private:
  std::uint64_t bits_ = 0;
};
constexpr instruction_set operator|(instruction_set a, instruction_set b) noexcept {
  a.insert(b);
  return a;
}
constexpr instruction_set operator|(instruction_class a, instruction_class b) noexcept {
  return instruction_set(a) | instruction_set(b);
}

/// Instructions on the FMA pipes of CUDA cores, including integer multiplications and moves: their
/// number in the code (each counted once, however often it runs), and the operations of all of them
/// together for one thread.
struct fma_instructions {
  std::uint32_t count = 0;
  std::uint32_t fp32_operations = 0, fp16_operations = 0;

  constexpr void add(fma_instructions const& more) noexcept {
    count = sum_of(count, more.count);
    fp32_operations = sum_of(fp32_operations, more.fp32_operations);
    fp16_operations = sum_of(fp16_operations, more.fp16_operations);
  }
  friend constexpr bool operator==(fma_instructions const&, fma_instructions const&) = default;

 private:
  static constexpr std::uint32_t sum_of(std::uint32_t a, std::uint32_t b) noexcept {
    return b > ~a ? ~std::uint32_t{0} : a + b;
  }
};

/// The code of all kernels with one name.
struct kernel_code {
  std::uint32_t sm = 0;  // compiled for: 90 for sm_90 and sm_90a
  instruction_set holds;
  /// True if `holds` has everything that these kernels can execute. False if there may be more: an
  /// unknown chip, or a call with an unknown target.
  bool is_complete = false;
  fma_instructions fma{};   // of the kernel with most, if several have the name
  bool tells_kinds = true;  // `float_other`, `shuffle`, `barrier`, `add_in_memory` were looked for

  friend constexpr bool operator==(kernel_code const&, kernel_code const&) = default;
};

/// A kernel_code as a row of a capture. A later row of the same name replaces it.
struct kernel_code_record {
  name_id name{};  // mangled, as in kernel_shape
  std::uint32_t sm = 0;
  std::uint64_t instructions = 0;  // bits of instruction_set
  bool is_complete = false;
  std::uint32_t fma_instructions = 0, fp32_operations = 0, fp16_operations = 0;
};

constexpr kernel_code code_of(kernel_code_record const& record) noexcept {
  auto const told = instruction_set(instruction_class::told_kinds).bits();
  return {record.sm,
          instruction_set(record.instructions & ~told),
          record.is_complete,
          {record.fma_instructions, record.fp32_operations, record.fp16_operations},
          (record.instructions & told) != 0};
}
constexpr kernel_code_record record_of(name_id name, kernel_code const& code) noexcept {
  return {name,
          code.sm,
          (code.tells_kinds ? code.holds | instruction_class::told_kinds : code.holds).bits(),
          code.is_complete,
          code.fma.count,
          code.fma.fp32_operations,
          code.fma.fp16_operations};
}

}  // namespace gpuprof

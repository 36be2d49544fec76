// SPDX-License-Identifier: Apache-2.0
// Computes on the host, from the same operands, the expected results of the compute kernels. Pure.
#pragma once

#include "guest/peaks/kernels/operands.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace gpuprof::guest::peaks {

/// Decodes sign, exponent and mantissa of a binary format without infinities.
double decoded(std::uint32_t bits, int exponent_bits, int mantissa_bits);

/// Decode FP16 and BF16 in the lowest 16 bits.
double half(std::uint32_t bits);
double bfloat(std::uint32_t bits);

/// Computes x * m + b with one rounding, as the hardware does.
double half_fma(double x, double m, double b);
double bfloat_fma(double x, double m, double b);

/// Return how many numbers a packed word holds, and the i-th of them.
int elements_per_word(operand_format format);
double element(operand_format format, std::uint32_t word, int i);

// Reads what a kernel left in memory and describes mismatches.

/// Returns zero beyond the end.
template <class T>
T read(std::span<std::byte const> bytes, std::size_t index) {
  T value{};
  if ((index + 1) * sizeof(T) <= bytes.size())
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class To, class From>
To as_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline std::string mismatch(std::string const& where, double wanted, double found) {
  return "its result is wrong: " + where + " should be " + std::to_string(wanted) + " and is " +
         std::to_string(found);
}

// Computes on the host the expected results of the chains in cuda_cores.cu. Pure.

/// The chains of cuda_cores.cu.
enum class chain_kind { fp32, fp32_pairs, fp64, fp16, bf16, int32, special };

/// `bytes` holds the results of the 256 pairs of lane and chain after `steps` multiply-adds each.
/// Returns an empty string if all are right, else one line that says what is wrong.
std::string check_chains(chain_kind kind, std::span<std::byte const> bytes, std::uint32_t seed,
                         std::uint64_t steps);

/// The order in which a kernel stores its accumulators.
enum class accumulator_layout {
  mma,        // mma.sync fragments of one warp: word (chain * words + register) * 32 + lane
  warpgroup,  // wgmma fragments of 128 threads: word register * 128 + thread
  rows,       // rows * columns, row-major
};
enum class accumulator_type { f32, f16, s32, f64 };

/// D = repeats * sum over stages and steps of (+/-) A * B.
struct tensor_geometry {
  accumulator_layout layout = accumulator_layout::mma;
  accumulator_type accumulator = accumulator_type::f32;
  operand_format format = operand_format::f16;  // ignored for f64
  unsigned rows = 16, columns = 8;
  unsigned chains = 1;  // chains of accumulators, each with its own B
  unsigned stages = 1, steps = 1;
  unsigned words_per_step = 8;  // 32-bit words of a row in one step; for f64 doubles
  bool subtracts_odd_steps = false;
  bool block_scaled = false;  // FP4: every 16 elements of a step share a scale
};

/// Returns an empty string if the results are right, else one line that says what is wrong.
std::string check_tensor(tensor_geometry const& g, std::span<std::byte const> bytes,
                         std::uint32_t seed, std::uint64_t repeats);

/// Returns how many bytes the kernel stores for check_tensor.
std::uint64_t stored_bytes(tensor_geometry const& g) noexcept;

}  // namespace gpuprof::guest::peaks

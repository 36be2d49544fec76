// Computes on the host what a peak kernel must have come to, and compares. A kernel that fails is
// reported as failed: its speed says nothing. Pure.
#pragma once

#include "peaks/kernels/operands.cuh"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::peaks {

/// Of the chains of cuda_cores.cu.
enum class chain_kind { fp32, fp32_pairs, fp64, fp16, bf16, int32, special };

/// `bytes` is what lane and chain 0 to 255 left, after `steps` multiply-adds each. Empty when all is
/// right, else one line that says what is not.
std::string check_chains(chain_kind kind, std::span<std::byte const> bytes, std::uint32_t seed,
                         std::uint64_t steps);

/// How accumulators lie in what a kernel stores.
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
  operand_format format = operand_format::f16;  // not looked at for f64
  unsigned rows = 16, columns = 8;
  unsigned chains = 1;           // of accumulators, each with a B of its own
  unsigned stages = 1, steps = 1;
  unsigned words_per_step = 8;   // 32-bit words of a row in one step; doubles for f64
  bool subtracts_odd_steps = false;
  bool block_scaled = false;  // FP4: every 16 elements of a step share a scale
};

std::string check_tensor(tensor_geometry const& g, std::span<std::byte const> bytes,
                         std::uint32_t seed, std::uint64_t repeats);

/// Bytes that the kernel stores for check_tensor.
std::uint64_t stored_bytes(tensor_geometry const& g) noexcept;

/// The random float at word `place` of a buffer that memory_fill filled, as bits.
std::uint32_t filled_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// What dram_write and l2_write leave at word `place`.
std::uint32_t written_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// Sum of all words of a filled buffer, modulo 2^32.
std::uint32_t filled_sum(std::uint32_t seed, std::uint64_t words) noexcept;

/// Folds (see span.cuh) that every block of these kernels must report.
std::uint32_t l2_read_fold(std::uint32_t seed, std::uint64_t bytes, std::uint64_t rounds);
std::uint32_t local_read_fold(std::uint32_t seed, std::uint64_t iterations);
std::uint32_t shared_write_fold(std::uint32_t seed, std::uint64_t iterations);

}  // namespace gpuprof::peaks

// SPDX-License-Identifier: Apache-2.0
// Operands of the peak kernels: random finite numbers in a narrow range of exponents, computed from
// their place, so that the host can compute them too and check the GPU's results. Compiles for host
// and device.
//
// Mantissas are random because power depends on the data: with zeros and small integers, a GPU runs
// faster than with any real work. Exponents are narrow so that sums stay finite.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define GPUPROF_BOTH __host__ __device__ __forceinline__
#else
#define GPUPROF_BOTH inline
#endif

namespace gpuprof::guest::peaks {

enum class operand_format { f16, bf16, tf32, e4m3, e3m2, e2m1, s8 };

/// Applies Murmur3's finalizer to place and seed.
GPUPROF_BOTH std::uint32_t scrambled(std::uint32_t seed, std::uint32_t index) {
  std::uint32_t h = index * 0x9E3779B9u + seed;
  h ^= h >> 16;
  h *= 0x85EBCA6Bu;
  h ^= h >> 13;
  h *= 0xC2B2AE35u;
  return h ^ (h >> 16);
}

/// Returns a 32-bit word of packed operands, the first one in the lowest bits.
GPUPROF_BOTH std::uint32_t operand_word(operand_format format, std::uint32_t seed,
                                        std::uint32_t index) {
  std::uint32_t const h = scrambled(seed, index);
  switch (format) {
    case operand_format::f16:  // 1/16 to 1/4: small, so that sums fit FP16 accumulators
      return (h & 0x87FF87FFu) + 0x2C002C00u;
    case operand_format::bf16:  // 1/4 to 1
      return (h & 0x80FF80FFu) + 0x3E803E80u;
    case operand_format::tf32:  // 1/4 to 1; the tensor core ignores the low 13 bits
      return (h & 0x80FFE000u) + 0x3E800000u;
    case operand_format::e4m3:  // 1/4 to 1
      return (h & 0x8F8F8F8Fu) + 0x28282828u;
    case operand_format::e3m2:  // 1/4 to 1; one value in the low six bits of each byte
      return (h & 0x27272727u) + 0x04040404u;
    case operand_format::e2m1:  // every code is a finite number
    case operand_format::s8:
      break;
  }
  return h;
}

/// 1/4 to 1. All 52 bits of the mantissa are random.
GPUPROF_BOTH std::uint64_t operand_f64(std::uint32_t seed, std::uint32_t index) {
  std::uint64_t const low = scrambled(seed, 2 * index), high = scrambled(seed, 2 * index + 1);
  return ((high & 0x801FFFFFu) + 0x3FD00000u) << 32 | low;
}

}  // namespace gpuprof::guest::peaks

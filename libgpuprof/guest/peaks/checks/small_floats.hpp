// SPDX-License-Identifier: Apache-2.0
// The number formats of the tensor cores and of packed arithmetic, on the host. Pure.
#pragma once

#include "guest/peaks/kernels/operands.cuh"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace gpuprof::guest::peaks {

/// Sign, exponent and mantissa of a binary format without infinities, as a double.
double decoded(std::uint32_t bits, int exponent_bits, int mantissa_bits);

/// FP16 and BF16, in the lowest 16 bits.
double half(std::uint32_t bits);
double bfloat(std::uint32_t bits);

/// x * m + b with one rounding, as hardware does it.
double half_fma(double x, double m, double b);
double bfloat_fma(double x, double m, double b);

/// How many numbers a packed word holds, and the i-th of them.
int elements_per_word(operand_format format);
double element(operand_format format, std::uint32_t word, int i);

// Reads what a kernel left in memory, and says where it is wrong.

/// Zero beyond the end.
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

}  // namespace gpuprof::guest::peaks

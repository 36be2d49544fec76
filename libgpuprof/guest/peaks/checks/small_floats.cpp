// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/checks/small_floats.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::guest::peaks {
namespace {

/// To the nearest number of `digits` binary digits, ties to even; none finer than `quantum`.
double rounded(double value, int digits, double quantum) {
  if (value == 0) return 0;
  int exponent = 0;
  std::frexp(value, &exponent);
  auto const unit = std::max(std::ldexp(1.0, exponent - digits), quantum);
  return std::nearbyint(value / unit) * unit;
}

}  // namespace

double decoded(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  auto const mantissa = bits & ((1u << mantissa_bits) - 1);
  auto const exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  auto const negative = (bits >> (mantissa_bits + exponent_bits) & 1) != 0;
  auto const bias = (1 << (exponent_bits - 1)) - 1;
  auto const size =
      exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                    : std::ldexp((1u << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  return negative ? -size : size;
}

double half(std::uint32_t bits) {
  return decoded(bits & 0xFFFF, 5, 10);
}

double bfloat(std::uint32_t bits) {
  return as_bits<float>(bits << 16);
}

// Products of two 11-bit numbers and sums with a third fit a double: one rounding, as in hardware.
double half_fma(double x, double m, double b) {
  return rounded(x * m + b, 11, 0x1p-24);
}
double bfloat_fma(double x, double m, double b) {
  return rounded(x * m + b, 8, 0x1p-133);
}

int elements_per_word(operand_format format) {
  switch (format) {
    case operand_format::tf32:
      return 1;
    case operand_format::f16:
    case operand_format::bf16:
      return 2;
    case operand_format::e4m3:
    case operand_format::e3m2:
    case operand_format::s8:
      return 4;
    case operand_format::e2m1:
      return 8;
  }
  return 1;
}

double element(operand_format format, std::uint32_t word, int i) {
  switch (format) {
    case operand_format::tf32:
      return as_bits<float>(word);
    case operand_format::f16:
      return half(word >> (16 * i));
    case operand_format::bf16:
      return bfloat(word >> (16 * i) & 0xFFFF);
    case operand_format::e4m3:
      return decoded(word >> (8 * i) & 0xFF, 4, 3);
    case operand_format::e3m2:
      return decoded(word >> (8 * i) & 0x3F, 3, 2);
    case operand_format::s8:
      return static_cast<std::int8_t>(word >> (8 * i) & 0xFF);
    case operand_format::e2m1:
      return decoded(word >> (4 * i) & 0xF, 2, 1);
  }
  return 0;
}

}  // namespace gpuprof::guest::peaks

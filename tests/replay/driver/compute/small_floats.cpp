// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/small_floats.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpuprof::replay {
namespace {

double f16_value(std::uint32_t code) {
  auto const fraction = code % 1024, exponent = code / 1024 % 32;
  auto const size = exponent == 0 ? fraction / 1024.0 * std::pow(2.0, -14)
                                  : (1 + fraction / 1024.0) * std::pow(2.0, int(exponent) - 15);
  return code >= 0x8000 ? -size : size;
}

double bf16_value(std::uint32_t code) {
  auto const fraction = code % 128, exponent = code / 128 % 256;
  auto const size = exponent == 0 ? fraction / 128.0 * std::pow(2.0, -126)
                                  : (1 + fraction / 128.0) * std::pow(2.0, int(exponent) - 127);
  return code >= 0x8000 ? -size : size;
}

double e4m3_value(std::uint32_t code) {
  auto const fraction = code % 8, exponent = code / 8 % 16;
  auto const size =
      exponent == 0 ? fraction / 8.0 / 64 : (8 + fraction) * std::pow(2.0, int(exponent) - 10);
  return code & 0x80 ? -size : size;
}

double e3m2_value(std::uint32_t code) {
  auto const fraction = code % 4, exponent = code / 4 % 8;
  auto const size =
      exponent == 0 ? fraction / 16.0 : (4 + fraction) * std::pow(2.0, int(exponent) - 5);
  return code & 0x20 ? -size : size;
}

double e2m1_value(std::uint32_t code) {
  constexpr double sizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -sizes[code % 8] : sizes[code % 8];
}

/// All finite numbers that are not negative; the place of each is its code.
std::vector<double> const& sizes_of(small_format format) {
  auto const made = [](small_format f, std::uint32_t end) {
    auto* const all = new std::vector<double>;
    for (std::uint32_t code = 0; code < end; ++code) all->push_back(value_of(f, code));
    return all;
  };
  static auto const* const f16 = made(small_format::f16, 0x7C00);
  static auto const* const bf16 = made(small_format::bf16, 0x7F80);
  return format == small_format::f16 ? *f16 : *bf16;
}

}  // namespace

double value_of(small_format format, std::uint32_t code) {
  switch (format) {
    case small_format::f16:
      return f16_value(code & 0xFFFF);
    case small_format::bf16:
      return bf16_value(code & 0xFFFF);
    case small_format::e4m3:
      return e4m3_value(code & 0xFF);
    case small_format::e3m2:
      return e3m2_value(code & 0x3F);
    case small_format::e2m1:
      break;
  }
  return e2m1_value(code & 0xF);
}

std::uint32_t nearest_code(small_format format, long double exact) {
  auto const& sizes = sizes_of(format);
  auto const size = std::fabs(exact);
  auto const sign = std::signbit(exact) ? 0x8000u : 0u;
  auto const above = std::lower_bound(sizes.begin(), sizes.end(), size,
                                      [](double a, long double b) { return a < b; });
  if (above == sizes.end()) return sign + static_cast<std::uint32_t>(sizes.size());  // infinite
  auto const code = static_cast<std::uint32_t>(above - sizes.begin());
  if (code == 0 || *above == size) return sign + code;
  auto const up = *above - size, down = size - sizes[code - 1];
  bool const takes_lower = down < up || (down == up && code % 2 == 1);
  return sign + (takes_lower ? code - 1 : code);
}

double nearest(small_format format, long double exact) {
  return value_of(format, nearest_code(format, exact));
}

}  // namespace gpuprof::replay

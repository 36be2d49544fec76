// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/checks/kernel_checks.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpuprof::guest::peaks {
namespace {

/// Rounds to `digits` binary digits, but not finer than `quantum`; ties to even.
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

// A product of two 11-bit numbers plus a third fits a double, so there is only one rounding, as in
// hardware.
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

namespace {

constexpr unsigned lanes_and_chains = 256;

/// Returns part 0 or 1 of a word that holds two numbers.
std::uint32_t half_word(std::uint32_t word, unsigned part) {
  return word >> (16 * part) & 0xFFFF;
}

/// Computes the chain of `place` on the host. `one_step(x, addend)` is the operation.
template <class T, class Start, class Step>
T end_of_chain(Start const& start, Step const& one_step, unsigned place, std::uint64_t steps) {
  T x = start(place);
  T const addend = start(lanes_and_chains);
  for (std::uint64_t i = 0; i < steps; ++i) x = one_step(x, addend);
  return x;
}

/// Compares every chain. `tolerance` is relative; 0 requires equal values.
template <class T, class Start, class Step, class Found>
std::string compare_chains(Start const& start, Step const& one_step, Found const& found,
                           std::uint64_t steps, double tolerance) {
  for (unsigned place = 0; place < lanes_and_chains; ++place) {
    auto const wanted = static_cast<double>(end_of_chain<T>(start, one_step, place, steps));
    auto const got = static_cast<double>(found(place));
    if (!(std::abs(got - wanted) <= tolerance * std::abs(wanted)))
      return mismatch("chain " + std::to_string(place), wanted, got);
  }
  return {};
}

/// For kernels that compute two numbers at a time: `compare(part)` checks the first or the second.
template <class Compare>
std::string compare_parts(unsigned parts, Compare const& compare) {
  std::string wrong;
  for (unsigned part = 0; part < parts && wrong.empty(); ++part) wrong = compare(part);
  return wrong;
}

}  // namespace

std::string check_chains(chain_kind kind, std::span<std::byte const> bytes, std::uint32_t seed,
                         std::uint64_t steps) {
  auto const start = [seed](operand_format format) {
    return [seed, format](unsigned i) { return operand_word(format, seed, i); };
  };
  auto const word = [bytes](unsigned i) { return read<std::uint32_t>(bytes, i); };
  switch (kind) {
    case chain_kind::fp32:
    case chain_kind::fp32_pairs: {
      auto const parts = kind == chain_kind::fp32_pairs ? 2u : 1u;
      auto const m = as_bits<float>(0xBF7FFFFFu);
      return compare_parts(parts, [&](unsigned part) {
        return compare_chains<float>(
            [&](unsigned i) { return as_bits<float>(start(operand_format::bf16)(i)); },
            [m](float x, float b) { return std::fma(x, m, b); },
            [&](unsigned i) { return as_bits<float>(word(parts * i + part)); }, steps, 0);
      });
    }
    case chain_kind::fp64: {
      auto const m = as_bits<double>(std::uint64_t{0xBFEFFFFFFFFFFFFF});
      return compare_chains<double>(
          [seed](unsigned i) { return as_bits<double>(operand_f64(seed, i)); },
          [m](double x, double b) { return std::fma(x, m, b); },
          [&](unsigned i) { return read<double>(bytes, i); }, steps, 0);
    }
    case chain_kind::fp16:
      return compare_parts(2, [&](unsigned part) {
        return compare_chains<double>(
            [&](unsigned i) { return half(half_word(start(operand_format::f16)(i), part)); },
            [m = half(0xBBFF)](double x, double b) { return half_fma(x, m, b); },
            [&](unsigned i) { return half(half_word(word(i), part)); }, steps, 0);
      });
    case chain_kind::bf16:
      return compare_parts(2, [&](unsigned part) {
        return compare_chains<double>(
            [&](unsigned i) { return bfloat(half_word(start(operand_format::bf16)(i), part)); },
            [m = bfloat(0xBF7F)](double x, double b) { return bfloat_fma(x, m, b); },
            [&](unsigned i) { return bfloat(half_word(word(i), part)); }, steps, 0);
      });
    case chain_kind::int32:
      return compare_chains<std::uint32_t>(
          start(operand_format::s8),
          [](std::uint32_t x, std::uint32_t b) { return x * 0x915F77F5u + b; }, word, steps, 0);
    case chain_kind::special:
      return compare_chains<float>(
          [&](unsigned i) { return as_bits<float>(start(operand_format::tf32)(i)); },
          [](float x, float) { return std::exp2(-x); },
          [&](unsigned i) { return as_bits<float>(word(i)); }, steps, 1e-5);
  }
  return {};
}

namespace {

constexpr std::uint32_t place_of_b = 0x100000;
constexpr std::uint32_t place_of_scales_a = 0x200000, place_of_scales_b = 0x300000;

/// One row of A or one column of B, over all stages and steps.
struct operand_rows {
  tensor_geometry const& g;
  std::uint32_t seed;

  std::vector<double> row_of_a(unsigned r) const {
    return scaled(row(0, g.rows, 0, r), place_of_scales_a + r);
  }
  std::vector<double> column_of_b(unsigned chain, unsigned c) const {
    return scaled(row(place_of_b, g.columns, chain, c), place_of_scales_b + chain * g.columns + c);
  }

 private:
  unsigned row_words() const { return g.layout == accumulator_layout::mma ? 8 : 32; }
  std::vector<double> row(std::uint32_t base, unsigned count, unsigned chain, unsigned r) const {
    std::vector<double> values;
    for (unsigned s = 0; s < g.stages; ++s) {
      for (unsigned k = 0; k < g.steps; ++k) {
        for (unsigned w = 0; w < g.words_per_step; ++w)
          append(values, base, count, chain, r, s, k, w);
      }
    }
    return values;
  }

  /// All stages and steps have the same four scales, which are unsigned ue4m3 numbers.
  std::vector<double> scaled(std::vector<double> values, std::uint32_t place) const {
    if (!g.block_scaled) return values;
    auto const scales = operand_word(operand_format::e4m3, seed, place) & 0x7F7F7F7Fu;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] *= decoded(scales >> (8 * (i / 16 % 4)) & 0xFF, 4, 3);
    return values;
  }

  void append(std::vector<double>& values, std::uint32_t base, unsigned count, unsigned chain,
              unsigned r, unsigned s, unsigned k, unsigned w) const {
    auto const row = (chain * g.stages + s) * count + r;
    if (g.accumulator == accumulator_type::f64) {
      values.push_back(as_bits<double>(operand_f64(seed, base + row * g.words_per_step + w)));
      return;
    }
    auto const word =
        operand_word(g.format, seed, base + row * row_words() + k * g.words_per_step + w);
    for (int i = 0; i < elements_per_word(g.format); ++i)
      values.push_back(element(g.format, word, i));
  }
};

struct stored_accumulators {
  tensor_geometry const& g;
  std::span<std::byte const> bytes;

  double at(unsigned chain, unsigned r, unsigned c) const {
    switch (g.layout) {
      case accumulator_layout::rows:
        return number(r * g.columns + c);
      case accumulator_layout::warpgroup: {
        auto const thread = r / 16 * 32 + r % 8 * 4 + c % 8 / 2;
        auto const high = r / 8 % 2;
        if (g.accumulator == accumulator_type::f16)
          return packed(((c / 8) * 2 + high) * 128 + thread, c % 2);
        return number(((c / 8) * 4 + high * 2 + c % 2) * 128 + thread);
      }
      case accumulator_layout::mma: {
        auto const lane = r % 8 * 4 + c % 8 / 2;
        auto const high = r / 8;
        if (g.accumulator == accumulator_type::f16)
          return packed((chain * (g.rows / 8) + high) * 32 + lane, c % 2);
        return number((chain * (g.rows / 4) + high * 2 + c % 2) * 32 + lane);
      }
    }
    return 0;
  }

 private:
  double number(std::size_t i) const {
    switch (g.accumulator) {
      case accumulator_type::f64:
        return read<double>(bytes, i);
      case accumulator_type::s32:
        return read<std::int32_t>(bytes, i);
      case accumulator_type::f16:  // only row-major results come here; they are stored as floats
      case accumulator_type::f32:
        break;
    }
    return read<float>(bytes, i);
  }
  double packed(std::size_t word, unsigned part) const {
    return half(read<std::uint32_t>(bytes, word) >> (16 * part));
  }
};

/// Returns the tolerance for rounding in the accumulators, relative to the largest result. Hopper
/// adds FP8 products with about 14 bits of mantissa.
double tolerance_of(tensor_geometry const& g) {
  switch (g.accumulator) {
    case accumulator_type::f64:
      return 1e-13;
    case accumulator_type::s32:
      return 0;
    case accumulator_type::f16:
      return 2e-2;
    case accumulator_type::f32:
      break;
  }
  bool const few_bits = g.format == operand_format::e4m3 || g.format == operand_format::e3m2 ||
                        g.format == operand_format::e2m1;
  return few_bits ? 1e-2 : 1e-3;
}

/// If there are many rows, checks one of each group of eight, each time at another position.
unsigned next_row(tensor_geometry const& g, unsigned r) {
  return g.rows <= 16 || r % 8 == 7 ? r + 1 : r + 9;
}

double product(tensor_geometry const& g, std::vector<double> const& a, std::vector<double> const& b,
               std::uint64_t repeats) {
  auto const per_step = a.size() / (std::size_t{g.stages} * g.steps);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    bool const subtract = g.subtracts_odd_steps && i / per_step % g.steps % 2 == 1;
    sum += subtract ? -a[i] * b[i] : a[i] * b[i];
  }
  sum *= static_cast<double>(repeats);
  return g.accumulator == accumulator_type::s32
             ? static_cast<double>(static_cast<std::int32_t>(static_cast<std::int64_t>(sum)))
             : sum;
}

}  // namespace

std::uint64_t stored_bytes(tensor_geometry const& g) noexcept {
  auto const numbers = std::uint64_t{g.rows} * g.columns * g.chains;
  switch (g.accumulator) {
    case accumulator_type::f64:
      return numbers * 8;
    case accumulator_type::f16:
      return g.layout == accumulator_layout::rows ? numbers * 4 : numbers * 2;
    case accumulator_type::f32:
    case accumulator_type::s32:
      break;
  }
  return numbers * 4;
}

std::string check_tensor(tensor_geometry const& g, std::span<std::byte const> bytes,
                         std::uint32_t seed, std::uint64_t repeats) {
  if (bytes.size() < stored_bytes(g)) return "its result is missing";
  operand_rows const operands{g, seed};
  stored_accumulators const found{g, bytes};
  double greatest = 0, worst = 0, wanted_there = 0, found_there = 0;
  std::string where;
  for (unsigned chain = 0; chain < g.chains; ++chain) {
    std::vector<std::vector<double>> columns;
    for (unsigned c = 0; c < g.columns; ++c) columns.push_back(operands.column_of_b(chain, c));
    for (unsigned r = 0; r < g.rows; r = next_row(g, r)) {
      auto const row = operands.row_of_a(r);
      for (unsigned c = 0; c < g.columns; ++c) {
        auto const wanted = product(g, row, columns[c], repeats);
        auto const got = found.at(chain, r, c);
        greatest = std::max(greatest, std::abs(wanted));
        auto const off = std::isfinite(got) ? std::abs(got - wanted) : HUGE_VAL;
        if (off > worst) {
          worst = off;
          where = "row " + std::to_string(r) + ", column " + std::to_string(c);
          wanted_there = wanted;
          found_there = got;
        }
      }
    }
  }
  if (worst <= tolerance_of(g) * greatest) return {};
  return mismatch(where, wanted_there, found_there);
}

}  // namespace gpuprof::guest::peaks

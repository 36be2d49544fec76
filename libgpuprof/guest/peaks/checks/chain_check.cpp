// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/checks/chain_check.hpp"

#include "guest/peaks/checks/small_floats.hpp"
#include "guest/peaks/checks/stored_bits.hpp"

#include <cmath>

namespace gpuprof::guest::peaks {
namespace {

constexpr unsigned lanes_and_chains = 256;

/// Part 0 or 1 of a word of two numbers.
std::uint32_t half_word(std::uint32_t word, unsigned part) {
  return word >> (16 * part) & 0xFFFF;
}

/// Runs the chain of `place` on the host; `one_step(x, addend)` is the operation.
template <class T, class Start, class Step>
T end_of_chain(Start const& start, Step const& one_step, unsigned place, std::uint64_t steps) {
  T x = start(place);
  T const addend = start(lanes_and_chains);
  for (std::uint64_t i = 0; i < steps; ++i) x = one_step(x, addend);
  return x;
}

/// Compares every chain; `tolerance` is relative, 0 for bit for bit.
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

/// Of kernels that compute two numbers at a time: `compare(part)` looks at the first or the second.
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

}  // namespace gpuprof::guest::peaks

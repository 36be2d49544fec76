// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/core_kernels.hpp"

#include "guest/peaks/kernels/operands.cuh"
#include "replay/driver/compute/small_floats.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gpuprof::replay {
using namespace guest;
namespace {

using gpuprof::guest::peaks::operand_f64;
using gpuprof::guest::peaks::operand_format;
using gpuprof::guest::peaks::operand_word;

constexpr unsigned chains = 256, addend = 256;  // lanes times eight; where the addend's place is

struct core_kernel {
  std::string_view name;
  unsigned rounds;             // rounds of all chains in one iteration
  double operations_of_round;  // of a chain
};
constexpr std::array core_kernels{
    core_kernel{"cores_fp64", 32, 2},       core_kernel{"cores_fp32", 128, 2},
    core_kernel{"cores_fp32_pairs", 64, 4}, core_kernel{"cores_fp16", 64, 4},
    core_kernel{"cores_bf16", 64, 4},       core_kernel{"cores_int32", 64, 2},
    core_kernel{"cores_special", 32, 1},
};

core_kernel const* find(std::string_view name) noexcept {
  auto const found = std::find_if(core_kernels.begin(), core_kernels.end(),
                                  [&](core_kernel const& k) { return k.name == name; });
  return found == core_kernels.end() ? nullptr : &*found;
}

core_kernel const& core_kernel_named(std::string_view name) {
  auto const* const found = find(name);
  if (found == nullptr) throw std::out_of_range("no kernel " + std::string(name));
  return *found;
}

template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to{};
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// `steps` times `next` on the start value of each chain, stored one after the other.
template <class T, class Start, class Next>
std::vector<std::byte> run(std::uint64_t steps, Start const& start, Next const& next) {
  std::vector<T> values(chains);
  T const b = start(addend);
  for (unsigned i = 0; i < chains; ++i) {
    values[i] = start(i);
    for (std::uint64_t s = 0; s < steps; ++s) values[i] = next(values[i], b);
  }
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Two numbers of 16 bits in a word, each with its own chain.
std::vector<std::byte> packed_chains(small_format format, operand_format operands,
                                     std::uint32_t factor, std::uint32_t seed,
                                     std::uint64_t steps) {
  auto const m = static_cast<long double>(value_of(format, factor));
  auto const half = [&](std::uint32_t x, std::uint32_t b) {
    return nearest_code(format, value_of(format, x) * m + value_of(format, b));
  };
  return run<std::uint32_t>(
      steps, [&](unsigned i) { return operand_word(operands, seed, i); },
      [&](std::uint32_t x, std::uint32_t b) {
        return half(x & 0xFFFF, b & 0xFFFF) | half(x >> 16, b >> 16) << 16;
      });
}

float next_fp32(float x, float b) {
  return std::fma(x, same_bits<float>(0xBF7FFFFFu), b);
}

}  // namespace

bool is_core_kernel(std::string_view kernel) noexcept {
  return find(kernel) != nullptr;
}

double core_work(std::string_view name) {
  auto const& kernel = core_kernel_named(name);
  constexpr unsigned threads = 256, chains_of_thread = 8;
  return threads * chains_of_thread * kernel.rounds * kernel.operations_of_round;
}

std::vector<std::byte> chains_of(std::string_view name, std::uint32_t seed,
                                 std::uint64_t iterations) {
  auto const steps = iterations * core_kernel_named(name).rounds;
  auto const word = [seed](operand_format format) {
    return [seed, format](unsigned i) { return operand_word(format, seed, i); };
  };
  if (name == "cores_fp64") {
    return run<double>(
        steps, [seed](unsigned i) { return same_bits<double>(operand_f64(seed, i)); },
        [](double x, double b) {
          return std::fma(x, same_bits<double>(std::uint64_t{0xBFEFFFFFFFFFFFFF}), b);
        });
  }
  if (name == "cores_fp16")
    return packed_chains(small_format::f16, operand_format::f16, 0xBBFF, seed, steps);
  if (name == "cores_bf16")
    return packed_chains(small_format::bf16, operand_format::bf16, 0xBF7F, seed, steps);
  if (name == "cores_int32") {
    return run<std::uint32_t>(steps, word(operand_format::s8),
                              [](std::uint32_t x, std::uint32_t b) { return x * 0x915F77F5u + b; });
  }
  if (name == "cores_special") {
    return run<float>(
        steps,
        [&](unsigned i) { return same_bits<float>(operand_word(operand_format::tf32, seed, i)); },
        [](float x, float) { return static_cast<float>(std::pow(2.0, -double{x}) * (1 + 1e-7)); });
  }
  auto const start = [&](unsigned i) {
    return same_bits<float>(operand_word(operand_format::bf16, seed, i));
  };
  if (name == "cores_fp32") return run<float>(steps, start, next_fp32);
  using pair = std::array<float, 2>;
  return run<pair>(
      steps,
      [&](unsigned i) {
        return pair{start(i), start(i)};
      },
      [](pair x, pair b) {
        return pair{next_fp32(x[0], b[0]), next_fp32(x[1], b[1])};
      });
}

}  // namespace gpuprof::replay

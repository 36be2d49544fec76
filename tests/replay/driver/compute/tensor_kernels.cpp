// SPDX-License-Identifier: Apache-2.0
#include "replay/driver/compute/tensor_kernels.hpp"

#include "guest/peaks/kernels/operands.cuh"
#include "replay/driver/compute/small_floats.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gpuprof::replay {
using namespace guest;
namespace {

using gpuprof::guest::peaks::operand_f64;
using gpuprof::guest::peaks::operand_format;
using gpuprof::guest::peaks::operand_word;

enum class unit { warp, warpgroup, tensor_memory };
enum class sum_type { f32, f16, s32, f64 };

struct tensor_kernel {
  std::string_view name;
  unit runs_on;
  operand_format format;  // ignored for f64
  sum_type sum;
  unsigned m, n, k;

  unsigned per_word() const {
    switch (format) {
      case operand_format::tf32:
        return 1;
      case operand_format::f16:
      case operand_format::bf16:
        return 2;
      case operand_format::e2m1:
        return 8;
      default:
        return 4;
    }
  }
  bool is_scaled() const { return format == operand_format::e2m1; }
  bool subtracts() const {
    return runs_on != unit::warp && format != operand_format::s8 && !is_scaled();
  }
};

constexpr std::array tensor_kernels = [] {
  using enum unit;
  using enum sum_type;
  using o = operand_format;
  return std::array{
      tensor_kernel{"mma_fp64_large", warp, o::f16, f64, 16, 8, 16},
      tensor_kernel{"mma_fp64", warp, o::f16, f64, 8, 8, 4},
      tensor_kernel{"mma_tf32", warp, o::tf32, f32, 16, 8, 8},
      tensor_kernel{"mma_fp16", warp, o::f16, f32, 16, 8, 16},
      tensor_kernel{"mma_turing_fp16", warp, o::f16, f32, 16, 8, 8},
      tensor_kernel{"mma_fp16_acc16", warp, o::f16, f16, 16, 8, 16},
      tensor_kernel{"mma_turing_fp16_acc16", warp, o::f16, f16, 16, 8, 8},
      tensor_kernel{"mma_bf16", warp, o::bf16, f32, 16, 8, 16},
      tensor_kernel{"mma_fp8", warp, o::e4m3, f32, 16, 8, 32},
      tensor_kernel{"mma120_fp8", warp, o::e4m3, f32, 16, 8, 32},
      tensor_kernel{"mma_int8", warp, o::s8, s32, 16, 8, 32},
      tensor_kernel{"mma_turing_int8", warp, o::s8, s32, 8, 8, 16},
      tensor_kernel{"mma120_fp6", warp, o::e3m2, f32, 16, 8, 32},
      tensor_kernel{"mma120_fp4", warp, o::e2m1, f32, 16, 8, 64},
      tensor_kernel{"wgmma_tf32", warpgroup, o::tf32, f32, 64, 256, 8},
      tensor_kernel{"wgmma_fp16", warpgroup, o::f16, f32, 64, 256, 16},
      tensor_kernel{"wgmma_fp16_acc16", warpgroup, o::f16, f16, 64, 256, 16},
      tensor_kernel{"wgmma_bf16", warpgroup, o::bf16, f32, 64, 256, 16},
      tensor_kernel{"wgmma_fp8", warpgroup, o::e4m3, f32, 64, 256, 32},
      tensor_kernel{"wgmma_int8", warpgroup, o::s8, s32, 64, 256, 32},
      tensor_kernel{"tcgen05_tf32", tensor_memory, o::tf32, f32, 128, 256, 8},
      tensor_kernel{"tcgen05_fp16", tensor_memory, o::f16, f32, 128, 256, 16},
      tensor_kernel{"tcgen05_fp16_acc16", tensor_memory, o::f16, f16, 128, 256, 16},
      tensor_kernel{"tcgen05_bf16", tensor_memory, o::bf16, f32, 128, 256, 16},
      tensor_kernel{"tcgen05_fp8", tensor_memory, o::e4m3, f32, 128, 256, 32},
      tensor_kernel{"tcgen05_int8", tensor_memory, o::s8, s32, 128, 256, 32},
      tensor_kernel{"tcgen05_fp6", tensor_memory, o::e3m2, f32, 128, 256, 32},
      tensor_kernel{"tcgen05_fp4", tensor_memory, o::e2m1, f32, 128, 256, 64},
  };
}();

tensor_kernel const& kernel_named(std::string_view name) {
  auto const found = std::find_if(tensor_kernels.begin(), tensor_kernels.end(),
                                  [&](tensor_kernel const& k) { return k.name == name; });
  if (found == tensor_kernels.end())
    throw std::out_of_range("no tensor kernel " + std::string(name));
  return *found;
}

// Numbers --------------------------------------------------------------------

/// Element `i` of the bits from the lowest of `word` on.
double element_of(operand_format format, std::uint32_t word, unsigned i) {
  switch (format) {
    case operand_format::tf32: {
      float value = 0;
      std::memcpy(&value, &word, sizeof value);
      return value;
    }
    case operand_format::f16:
      return value_of(small_format::f16, word >> 16 * i);
    case operand_format::bf16:
      return value_of(small_format::bf16, word >> 16 * i);
    case operand_format::e4m3:
      return value_of(small_format::e4m3, word >> 8 * i);
    case operand_format::e3m2:
      return value_of(small_format::e3m2, word >> 8 * i);
    case operand_format::s8:
      return static_cast<signed char>(word >> 8 * i);
    case operand_format::e2m1:
      break;
  }
  return value_of(small_format::e2m1, word >> 4 * i);
}

double number_f64(std::uint32_t seed, std::uint32_t place) {
  auto const bits = operand_f64(seed, place);
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Scale `i` of four, numbers without a sign.
double scale_of(std::uint32_t seed, std::uint32_t place, unsigned i) {
  auto const word = operand_word(operand_format::e4m3, seed, place) & 0x7F7F7F7Fu;
  return value_of(small_format::e4m3, word >> 8 * i);
}

/// The accumulator after one more product.
double accumulated(sum_type type, double sum, double product) {
  switch (type) {
    case sum_type::f64:
      return sum + product;
    case sum_type::f16:
      return nearest(small_format::f16, static_cast<long double>(sum) + product);
    case sum_type::s32:
      return static_cast<std::int32_t>(static_cast<std::int64_t>(sum) +
                                       static_cast<std::int64_t>(product));
    case sum_type::f32:
      break;
  }
  return static_cast<float>(sum + product);
}

struct matrix {
  matrix(unsigned rows, unsigned width) : columns(width), values(rows * width) {}
  double& at(unsigned r, unsigned c) { return values[r * columns + c]; }
  double const* row(unsigned r) const { return values.data() + r * columns; }

  unsigned columns;
  std::vector<double> values;
};

/// Both along K: element (r, c) is the product of row r of `a` and row c of `b`.
matrix product_of(matrix const& a, unsigned rows, matrix const& b, unsigned columns, double sign) {
  matrix p(rows, columns);
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned c = 0; c < columns; ++c) {
      auto const *x = a.row(r), *y = b.row(c);
      double sum = 0;
      for (unsigned k = 0; k < a.columns; ++k) sum += x[k] * y[k];
      p.at(r, c) = sign * sum;
    }
  }
  return p;
}

// Products -------------------------------------------------------------------

constexpr unsigned warp_chains = 4, warp_rounds = 8, stages = 4, steps = 4;
constexpr std::uint32_t place_of_b = 0x100000, scales_of_a = 0x200000, scales_of_b = 0x300000;

double number_at(tensor_kernel const& kernel, std::uint32_t seed, std::uint32_t row, unsigned k) {
  if (kernel.sum == sum_type::f64) return number_f64(seed, row + k);
  auto const word = operand_word(kernel.format, seed, row + k / kernel.per_word());
  return element_of(kernel.format, word, k % kernel.per_word());
}

/// Rows along K, `words` apart: kernels place the words of a row in order, whether lanes load them
/// as fragments of mma.sync or they lie swizzled in shared memory.
matrix operand(tensor_kernel const& kernel, std::uint32_t seed, std::uint32_t base, unsigned words,
               unsigned rows, std::uint32_t scales) {
  matrix m(rows, kernel.k);
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned k = 0; k < kernel.k; ++k) {
      m.at(row, k) = number_at(kernel, seed, base + row * words, k);
      if (kernel.is_scaled()) m.at(row, k) *= scale_of(seed, scales + row, k / 16);
    }
  }
  return m;
}

/// What one round adds to the accumulators of a chain of mma.sync.
std::vector<matrix> products_of_warp(tensor_kernel const& kernel, std::uint32_t seed,
                                     unsigned chain) {
  auto const words = kernel.sum == sum_type::f64 ? kernel.k : 8;
  auto const first = chain * kernel.n;  // of this chain's columns of B
  auto const a = operand(kernel, seed, 0, words, kernel.m, scales_of_a);
  auto const b =
      operand(kernel, seed, place_of_b + first * words, words, kernel.n, scales_of_b + first);
  return {product_of(a, kernel.m, b, kernel.n, 1)};
}

/// What one batch of operands in shared memory adds, step by step.
std::vector<matrix> products_of_batch(tensor_kernel const& kernel, std::uint32_t seed,
                                      bool adds_all) {
  constexpr unsigned words = 32, step_words = 8;  // of a row, of all steps and of one
  std::vector<matrix> products;
  for (unsigned stage = 0; stage < stages; ++stage) {
    for (unsigned step = 0; step < steps; ++step) {
      auto const rows = [&](std::uint32_t base, unsigned count, std::uint32_t scales) {
        return operand(kernel, seed, base + stage * count * words + step * step_words, words, count,
                       scales);
      };
      bool const subtracts = kernel.subtracts() && !adds_all && step % 2 == 1;
      products.push_back(product_of(rows(0, kernel.m, scales_of_a), kernel.m,
                                    rows(place_of_b, kernel.n, scales_of_b), kernel.n,
                                    subtracts ? -1 : 1));
    }
  }
  return products;
}

/// One element after so many rounds. tcgen05 kernels have an accumulator for even batches and one
/// for odd ones.
double summed(tensor_kernel const& kernel, std::vector<matrix> const& products, std::size_t i,
              std::uint64_t rounds) {
  bool const has_two = kernel.runs_on == unit::tensor_memory && !kernel.is_scaled();
  std::array<double, 2> sums{};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    auto& sum = sums[has_two ? round % 2 : 0];
    for (auto const& p : products) sum = accumulated(kernel.sum, sum, p.values[i]);
  }
  return has_two ? accumulated(kernel.sum == sum_type::f16 ? sum_type::f32 : kernel.sum, sums[0],
                               sums[1])
                 : sums[0];
}

// What lies in memory --------------------------------------------------------

/// Puts element `i` of a thread to where the kernel stores its register.
class register_file {
 public:
  register_file(sum_type type, unsigned threads, std::size_t elements)
      : type_(type),
        threads_(threads),
        bytes_(elements * (type == sum_type::f64   ? 8
                           : type == sum_type::f16 ? 2
                                                   : 4)) {}

  /// Registers count from `first`, which is in elements too.
  void put(unsigned thread, unsigned first, unsigned i, double value) {
    if (type_ == sum_type::f16) {
      auto const half = static_cast<std::uint16_t>(nearest_code(small_format::f16, value));
      write(((first + i) / 2 * threads_ + thread) * 2 + i % 2, half);
    } else if (type_ == sum_type::f64) {
      write((first + i) * threads_ + thread, value);
    } else if (type_ == sum_type::s32) {
      write((first + i) * threads_ + thread, static_cast<std::int32_t>(value));
    } else {
      write((first + i) * threads_ + thread, static_cast<float>(value));
    }
  }
  std::vector<std::byte> bytes() && { return std::move(bytes_); }

 private:
  template <class T>
  void write(std::size_t place, T value) {
    std::memcpy(bytes_.data() + place * sizeof value, &value, sizeof value);
  }
  sum_type type_;
  unsigned threads_;
  std::vector<std::byte> bytes_;
};

/// PTX ISA, "Matrix fragments for mma.m16n8k16" and its siblings, C and D.
std::vector<std::byte> stored_by_warp(tensor_kernel const& kernel, tensor_result result) {
  register_file file(kernel.sum, 32, result.values.size());
  auto const in_lane = kernel.m / 4;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned chain = 0; chain < warp_chains; ++chain) {
      for (unsigned i = 0; i < in_lane; ++i) {
        auto const row = lane / 4 + (i < 2 ? 0 : 8), column = lane % 4 * 2 + i % 2;
        file.put(lane, chain * in_lane, i, result.at(chain, row, column));
      }
    }
  }
  return std::move(file).bytes();
}

/// PTX ISA, "WGMMA .m64nNk16 D fragment".
std::vector<std::byte> stored_by_warpgroup(tensor_kernel const& kernel, tensor_result result) {
  register_file file(kernel.sum, 128, result.values.size());
  for (unsigned thread = 0; thread < 128; ++thread) {
    auto const warp = thread / 32, lane = thread % 32;
    for (unsigned i = 0; i < 128; ++i) {
      auto const row = warp * 16 + lane / 4 + 8 * (i / 2 % 2);
      auto const column = i / 4 * 8 + lane % 4 * 2 + i % 2;
      file.put(thread, 0, i, result.at(0, row, column));
    }
  }
  return std::move(file).bytes();
}

std::vector<std::byte> stored_row_by_row(tensor_kernel const& kernel, tensor_result const& result) {
  register_file file(kernel.sum == sum_type::f16 ? sum_type::f32 : kernel.sum, 1,
                     result.values.size());
  for (unsigned i = 0; i < result.values.size(); ++i) file.put(0, 0, i, result.values[i]);
  return std::move(file).bytes();
}

}  // namespace

bool is_tensor_kernel(std::string_view kernel) noexcept {
  return std::any_of(tensor_kernels.begin(), tensor_kernels.end(),
                     [&](tensor_kernel const& k) { return k.name == kernel; });
}

double tensor_work(std::string_view name) {
  auto const& kernel = kernel_named(name);
  auto const one = 2.0 * kernel.m * kernel.n * kernel.k;
  constexpr unsigned warps = 8, warpgroups = 2;
  switch (kernel.runs_on) {
    case unit::warp:
      return one * warps * warp_chains * warp_rounds;
    case unit::warpgroup:
      return one * warpgroups * stages * steps;
    case unit::tensor_memory:
      break;
  }
  return one * stages * steps;
}

tensor_result multiplied(std::string_view name, std::uint32_t seed, std::uint64_t iterations,
                         tensor_defect defect) {
  auto const& kernel = kernel_named(name);
  bool const is_warp = kernel.runs_on == unit::warp;
  auto const rounds = iterations * (is_warp ? warp_rounds : 1) - defect.rounds_missing;
  tensor_result result{is_warp ? warp_chains : 1, kernel.m, kernel.n, {}};
  for (unsigned chain = 0; chain < result.chains; ++chain) {
    auto const products = is_warp ? products_of_warp(kernel, seed, chain)
                                  : products_of_batch(kernel, seed, defect.adds_odd_steps);
    for (std::size_t i = 0; i < kernel.m * kernel.n; ++i)
      result.values.push_back(summed(kernel, products, i, rounds));
  }
  return result;
}

std::vector<std::byte> stored(std::string_view name, tensor_result const& result) {
  auto const& kernel = kernel_named(name);
  switch (kernel.runs_on) {
    case unit::warp:
      return stored_by_warp(kernel, result);
    case unit::warpgroup:
      return stored_by_warpgroup(kernel, result);
    case unit::tensor_memory:
      break;
  }
  return stored_row_by_row(kernel, result);
}

std::size_t stored_bytes(std::string_view name) {
  auto const& kernel = kernel_named(name);
  tensor_result nothing{kernel.runs_on == unit::warp ? warp_chains : 1, kernel.m, kernel.n, {}};
  nothing.values.resize(nothing.chains * kernel.m * kernel.n);
  return stored(name, nothing).size();
}

}  // namespace gpuprof::replay

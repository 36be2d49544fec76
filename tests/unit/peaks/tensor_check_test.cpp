// SPDX-License-Identifier: Apache-2.0
// The check of tensor kernels, by rows and columns, against results that lie by lanes and
// registers: what is right passes, and whatever a broken kernel could leave does not.
#include "guest/peaks/experiments/kernel_list.hpp"
#include "replay/driver/compute/tensor_kernels.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <string>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::guest::peaks;

namespace {

constexpr std::uint32_t tensor_seed = 20260;
constexpr std::uint64_t iterations = 2;

std::vector<compute_kernel> tensor_kernels() {
  std::vector<compute_kernel> found;
  for (auto const& k : compute_kernels()) {
    if (std::holds_alternative<tensor_check>(k.check)) found.push_back(k);
  }
  return found;
}

tensor_check const& check_of(compute_kernel const& kernel) {
  return std::get<tensor_check>(kernel.check);
}

std::string verdict(compute_kernel const& kernel, std::vector<std::byte> const& bytes,
                    std::uint64_t after = iterations) {
  return check_tensor(check_of(kernel).geometry, bytes, tensor_seed,
                      after * check_of(kernel).repeats);
}
std::string verdict(compute_kernel const& kernel, replay::tensor_result const& result) {
  return verdict(kernel, replay::stored(kernel.name, result));
}

replay::tensor_result right_result(compute_kernel const& kernel) {
  return replay::multiplied(kernel.name, tensor_seed, iterations);
}

double greatest_of(replay::tensor_result const& result) {
  double greatest = 0;
  for (auto const v : result.values) greatest = std::max(greatest, std::abs(v));
  return greatest;
}

bool is_large(compute_kernel const& kernel) {
  return check_of(kernel).geometry.rows > 16;
}

/// Places to spoil: all of small results, of large ones the row that is looked at in some groups of
/// eight.
struct place {
  unsigned chain, row, column;
};
std::vector<place> places_in(compute_kernel const& kernel, replay::tensor_result const& result) {
  std::vector<place> places;
  for (unsigned chain = 0; chain < result.chains; ++chain) {
    if (is_large(kernel)) {
      for (unsigned group = 0; group < result.rows / 8; group += 2)
        places.push_back({chain, group * 8 + group % 8, group * 37 % result.columns});
      continue;
    }
    for (unsigned r = 0; r < result.rows; ++r) {
      for (unsigned c = 0; c < result.columns; ++c) places.push_back({chain, r, c});
    }
  }
  return places;
}

}  // namespace

TEST_CASE("every tensor kernel is known to the emulation, with the same work and size") {
  for (auto const& kernel : tensor_kernels()) {
    INFO(kernel.name);
    REQUIRE(replay::is_tensor_kernel(kernel.name));
    CHECK(replay::tensor_work(kernel.name) == kernel.work);
    CHECK(replay::stored_bytes(kernel.name) == stored_bytes(check_of(kernel).geometry));
  }
  CHECK(tensor_kernels().size() == 28);
}

TEST_CASE("results computed from fragments equal those from rows and columns") {
  for (auto const& kernel : tensor_kernels()) {
    INFO(kernel.name);
    CHECK(verdict(kernel, right_result(kernel)) == "");
    if (is_large(kernel)) continue;
    auto const longer =
        replay::stored(kernel.name, replay::multiplied(kernel.name, tensor_seed, 3));
    CHECK(verdict(kernel, longer, 3) == "");
  }
}

TEST_CASE("any single wrong accumulator is found") {
  for (auto const& kernel : tensor_kernels()) {
    INFO(kernel.name);
    auto const right = right_result(kernel);
    auto const off = std::max(1.0, std::round(0.05 * greatest_of(right)));
    unsigned passed = 0;
    for (auto const& p : places_in(kernel, right)) {
      auto wrong = right;
      wrong.at(p.chain, p.row, p.column) += off;
      passed += verdict(kernel, wrong).empty();
    }
    CHECK(passed == 0);
  }
}

TEST_CASE("an accumulator that is not a number is found") {
  for (auto const* const name : {"mma_bf16", "mma_fp64", "mma_fp16_acc16", "wgmma_fp8"}) {
    auto const kernels = tensor_kernels();
    auto const kernel = *std::find_if(kernels.begin(), kernels.end(),
                                      [&](compute_kernel const& k) { return k.name == name; });
    auto bytes = replay::stored(name, right_result(kernel));
    bool const is_half = check_of(kernel).geometry.accumulator == accumulator_type::f16;
    auto const bytes_of_number = check_of(kernel).geometry.accumulator == accumulator_type::f64 ? 8u
                                 : is_half                                                      ? 2u
                                           : 4u;
    // The most significant bytes of the first number.
    bytes[bytes_of_number - 1] = std::byte{0x7F};
    bytes[bytes_of_number - 2] = is_half ? std::byte{0xFF} : std::byte{0xF8};
    if (is_half) bytes[0] = std::byte{0xFF};
    INFO(name);
    CHECK(verdict(kernel, bytes) != "");
  }
}

TEST_CASE("swapped rows, columns and chains are found") {
  for (auto const& kernel : tensor_kernels()) {
    INFO(kernel.name);
    auto const right = right_result(kernel);
    auto rows = right, columns = right, chains = right;
    for (unsigned c = 0; c < right.columns; ++c) std::swap(rows.at(0, 0, c), rows.at(0, 1, c));
    for (unsigned r = 0; r < right.rows; ++r) std::swap(columns.at(0, r, 2), columns.at(0, r, 3));
    CHECK(verdict(kernel, rows) != "");
    CHECK(verdict(kernel, columns) != "");
    if (right.chains == 1) continue;
    auto const half = static_cast<std::ptrdiff_t>(right.rows * right.columns);
    std::swap_ranges(chains.values.begin(), chains.values.begin() + half,
                     chains.values.begin() + half);
    CHECK(verdict(kernel, chains) != "");
  }
}

TEST_CASE("swapped registers and lanes are found") {
  for (auto const& kernel : tensor_kernels()) {
    if (check_of(kernel).geometry.layout == accumulator_layout::rows) continue;
    INFO(kernel.name);
    auto bytes = replay::stored(kernel.name, right_result(kernel));
    auto const word = check_of(kernel).geometry.accumulator == accumulator_type::f64 ? 8 : 4;
    auto const lanes = check_of(kernel).geometry.layout == accumulator_layout::warpgroup ? 128 : 32;
    auto registers = bytes;
    std::swap_ranges(registers.begin(), registers.begin() + lanes * word,
                     registers.begin() + lanes * word);
    CHECK(verdict(kernel, registers) != "");
    std::swap_ranges(bytes.begin(), bytes.begin() + word, bytes.begin() + word);
    CHECK(verdict(kernel, bytes) != "");
  }
}

TEST_CASE("a missing multiplication is found") {
  for (auto const& kernel : tensor_kernels()) {
    INFO(kernel.name);
    auto const fewer =
        replay::multiplied(kernel.name, tensor_seed, iterations, {.rounds_missing = 1});
    CHECK(verdict(kernel, fewer) != "");
    auto const nothing = std::vector<std::byte>(replay::stored_bytes(kernel.name));
    CHECK(verdict(kernel, nothing) != "");
  }
}

TEST_CASE("a kernel that adds instead of subtracting is found") {
  for (auto const& kernel : tensor_kernels()) {
    if (!check_of(kernel).geometry.subtracts_odd_steps) continue;
    INFO(kernel.name);
    CHECK(verdict(kernel, replay::multiplied(kernel.name, tensor_seed, iterations,
                                             {.adds_odd_steps = true})) != "");
  }
}

TEST_CASE("operands of another seed and results cut short are found") {
  for (auto const& kernel : tensor_kernels()) {
    if (is_large(kernel) && kernel.name != "wgmma_bf16") continue;  // all are made alike
    INFO(kernel.name);
    CHECK(verdict(kernel, replay::multiplied(kernel.name, tensor_seed + 1, iterations)) != "");
    auto bytes = replay::stored(kernel.name, right_result(kernel));
    bytes.pop_back();
    CHECK(verdict(kernel, bytes) == "its result is missing");
  }
}

TEST_CASE("the line gives the place, the expected value and the actual value") {
  auto const kernels = tensor_kernels();
  auto const kernel = *std::find_if(kernels.begin(), kernels.end(),
                                    [](compute_kernel const& k) { return k.name == "mma_int8"; });
  auto wrong = right_result(kernel);
  auto const should_be = wrong.at(1, 9, 3);
  wrong.at(1, 9, 3) = should_be + 1e6;
  auto const line = verdict(kernel, wrong);
  INFO(line);
  CHECK(line.starts_with("its result is wrong: row 9, column 3 should be " +
                         std::to_string(should_be)));
  CHECK(line.find('\n') == std::string::npos);
}

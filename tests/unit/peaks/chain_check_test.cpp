// SPDX-License-Identifier: Apache-2.0
// The check of the chains of CUDA cores against chains worked out with numbers looked up in tables.
#include "guest/peaks/experiments/kernel_list.hpp"
#include "replay/driver/compute/core_kernels.hpp"
#include "replay/driver/compute/small_floats.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::guest::peaks;

namespace {

constexpr std::uint32_t chain_seed = 20260;

std::vector<compute_kernel> chain_kernels() {
  std::vector<compute_kernel> found;
  for (auto const& k : compute_kernels()) {
    if (std::holds_alternative<chain_check>(k.check)) found.push_back(k);
  }
  return found;
}

std::string verdict(compute_kernel const& kernel, std::vector<std::byte> const& bytes,
                    std::uint64_t iterations) {
  auto const& check = std::get<chain_check>(kernel.check);
  return check_chains(check.kind, bytes, chain_seed, iterations * check.steps);
}

}  // namespace

TEST_CASE("every kernel of CUDA cores does the work it declares") {
  CHECK(chain_kernels().size() == 7);
  for (auto const& kernel : chain_kernels()) {
    INFO(kernel.name);
    REQUIRE(replay::is_core_kernel(kernel.name));
    CHECK(replay::core_work(kernel.name) == kernel.work);
  }
}

TEST_CASE("chains give the right result at any length") {
  for (auto const& kernel : chain_kernels()) {
    for (std::uint64_t const iterations : {0u, 1u, 2u, 5u}) {
      INFO(kernel.name << ", iterations " << iterations);
      CHECK(verdict(kernel, replay::chains_of(kernel.name, chain_seed, iterations), iterations) ==
            "");
    }
  }
}

TEST_CASE("a chain with any wrong stored number is found") {
  for (auto const& kernel : chain_kernels()) {
    auto const right = replay::chains_of(kernel.name, chain_seed, 2);
    bool const is_packed = kernel.name == "cores_fp16" || kernel.name == "cores_bf16";
    auto const number = is_packed ? 2u : kernel.name == "cores_fp64" ? 8u : 4u;
    unsigned passed = 0;
    for (std::size_t i = 0; i < right.size() / number; ++i) {
      auto wrong = right;
      // A bit of the mantissa that a tolerance would not hide.
      wrong[i * number + number - 2] ^= is_packed ? std::byte{1} : std::byte{0x10};
      passed += verdict(kernel, wrong, 2).empty();
    }
    INFO(kernel.name);
    CHECK(passed == 0);
  }
}

TEST_CASE("one wrong last bit in an exact chain is found") {
  for (auto const& kernel : chain_kernels()) {
    if (kernel.name == "cores_special") continue;
    auto wrong = replay::chains_of(kernel.name, chain_seed, 2);
    wrong[0] ^= std::byte{1};
    INFO(kernel.name);
    CHECK(verdict(kernel, wrong, 2) != "");
  }
}

TEST_CASE("chains that are exchanged, of another seed, too short or too long are found") {
  for (auto const& kernel : chain_kernels()) {
    INFO(kernel.name);
    auto const right = replay::chains_of(kernel.name, chain_seed, 2);
    auto exchanged = right;
    auto const value = static_cast<std::ptrdiff_t>(right.size() / 256);
    std::swap_ranges(exchanged.begin(), exchanged.begin() + value, exchanged.begin() + value);
    CHECK(verdict(kernel, std::vector<std::byte>(right.size()), 2) != "");
    if (kernel.name == "cores_special") continue;  // all run into the same number
    CHECK(verdict(kernel, replay::chains_of(kernel.name, chain_seed + 1, 1), 1) != "");
    CHECK(verdict(kernel, exchanged, 2) != "");
    CHECK(verdict(kernel, right, 1) != "");
    CHECK(verdict(kernel, right, 3) != "");
  }
}

TEST_CASE("special functions that do not converge to their number are found") {
  auto const kernels = chain_kernels();
  auto const special = *std::find_if(kernels.begin(), kernels.end(), [](compute_kernel const& k) {
    return k.name == "cores_special";
  });
  std::vector<float> same(256, 0.6411857f);
  std::vector<std::byte> bytes(same.size() * sizeof(float));
  std::memcpy(bytes.data(), same.data(), bytes.size());
  CHECK(verdict(special, bytes, 2) == "");
  same[255] = 0.6413f;
  std::memcpy(bytes.data(), same.data(), bytes.size());
  CHECK(verdict(special, bytes, 2).starts_with("its result is wrong: chain 255 "));
  same[255] = NAN;
  std::memcpy(bytes.data(), same.data(), bytes.size());
  CHECK(verdict(special, bytes, 2) != "");
}

TEST_CASE("small floats round to the nearest, ties to even") {
  using enum replay::small_format;
  CHECK(replay::nearest(f16, 1 + 0x1p-11) == 1);
  CHECK(replay::nearest(f16, 1 + 3 * 0x1p-11) == 1 + 0x1p-9);
  CHECK(replay::nearest(f16, 1.0L + 0x1p-11L + 0x1p-60L) == 1 + 0x1p-10);
  CHECK(replay::nearest(f16, -65504) == -65504);
  CHECK(replay::nearest(f16, 0x1p-25) == 0);
  CHECK(replay::nearest(f16, 3 * 0x1p-25) == 0x1p-23);
  CHECK(replay::nearest(bf16, 1 + 0x1p-8) == 1);
  CHECK(replay::nearest(bf16, 1 + 3 * 0x1p-8) == 1 + 0x1p-6);
  CHECK(replay::value_of(e4m3, 0x7E) == 448);
  CHECK(replay::value_of(e4m3, 0x01) == 0x1p-9);
  CHECK(replay::value_of(e3m2, 0x1F) == 28);
  CHECK(replay::value_of(e3m2, 0x21) == -0.0625);
  CHECK(replay::value_of(e2m1, 0xF) == -6);
}

// SPDX-License-Identifier: Apache-2.0
// Replays the fuzzer's corpus, and bytes of its own making.
#include "fuzz/payload_input.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

using namespace gpuprof::test;

TEST_CASE("every input of the payload corpus is described within bounds") {
  std::size_t inputs = 0;
  for (auto const& file : std::filesystem::directory_iterator(GPUPROF_SEEDS)) {
    std::ifstream stream(file.path(), std::ios::binary);
    std::vector<char> const bytes{std::istreambuf_iterator<char>(stream), {}};
    INFO(file.path());
    CHECK_NOTHROW(describe_fuzzed(std::as_bytes(std::span(bytes))));
    ++inputs;
  }
  CHECK(inputs > 20);
}

TEST_CASE("20000 inputs of random bytes are described within bounds") {
  std::mt19937 random(7);
  std::vector<std::uint32_t> bytes(80);
  for (int i = 0; i < 20'000; ++i) {
    for (auto& word : bytes) word = random();
    REQUIRE_NOTHROW(describe_fuzzed(std::as_bytes(std::span(bytes))));
  }
}

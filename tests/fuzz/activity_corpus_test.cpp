// SPDX-License-Identifier: Apache-2.0
// Replays the stored inputs of the activity decoder's fuzzer under any compiler.
#include "fuzz/activity_input.hpp"
#include "support/catch.hpp"
#include "support/record_walk.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

using gpuprof::fuzz::decode_activity;

TEST_CASE("the decoder keeps its promises on every stored input of the fuzzer") {
  std::size_t inputs = 0, records = 0;
  for (auto const& entry : std::filesystem::directory_iterator(GPUPROF_SEEDS)) {
    std::ifstream in{entry.path(), std::ios::binary};
    std::vector<char> const input{std::istreambuf_iterator<char>{in}, {}};
    INFO(entry.path());
    records += decode_activity({reinterpret_cast<std::uint8_t const*>(input.data()), input.size()});
    ++inputs;
  }
  CHECK(inputs >= 15);
  CHECK(records >= 30);
}

TEST_CASE("records of every kind with random fields, whole and cut, keep the promises") {
  std::mt19937 random(11);
  std::vector<std::uint8_t> input(2000);
  std::size_t records = 0;
  for (int turn = 0; turn < 5000; ++turn) {
    for (auto& byte : input) byte = static_cast<std::uint8_t>(random());
    for (std::size_t at = 1; at + 4 < input.size();) {
      auto const kind = random() % 60;
      auto const bytes = gpuprof::test::record_size(static_cast<CUpti_ActivityKind>(kind));
      if (bytes == 0 && random() % 64 != 0) continue;
      for (std::size_t i = 0; i < 4; ++i) input[at + i] = static_cast<std::uint8_t>(kind >> 8 * i);
      if (bytes == 0) break;
      at += bytes;
    }
    records += decode_activity(input);
  }
  CHECK(records > 5000);
}

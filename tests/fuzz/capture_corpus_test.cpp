// SPDX-License-Identifier: Apache-2.0
// Replays the stored inputs of the capture fuzzer under any compiler.
#include "fuzz/capture_reader.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

TEST_CASE("the reader keeps its promises on every stored input of the fuzzer") {
  std::size_t inputs = 0;
  for (auto const& entry : std::filesystem::directory_iterator(GPUPROF_SEEDS)) {
    std::ifstream in{entry.path(), std::ios::binary};
    std::vector<char> const input{std::istreambuf_iterator<char>{in}, {}};
    INFO(entry.path());
    REQUIRE_NOTHROW(gpuprof::fuzz::read_capture(
        {reinterpret_cast<std::uint8_t const*>(input.data()), input.size()}));
    ++inputs;
  }
  CHECK(inputs >= 20);
}

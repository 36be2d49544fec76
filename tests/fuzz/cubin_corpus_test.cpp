// SPDX-License-Identifier: Apache-2.0
// Replays the stored inputs of the cubin reader's fuzzer under any compiler.
#include "fuzz/cubin_input.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

TEST_CASE("the reader of cubins keeps its promises on every stored input of the fuzzer") {
  std::size_t inputs = 0, functions = 0;
  for (auto const& entry : std::filesystem::directory_iterator(GPUPROF_SEEDS)) {
    std::ifstream in{entry.path(), std::ios::binary};
    std::vector<char> const input{std::istreambuf_iterator<char>{in}, {}};
    INFO(entry.path());
    functions += gpuprof::fuzz::read_module(
        {reinterpret_cast<std::uint8_t const*>(input.data()), input.size()});
    ++inputs;
  }
  CHECK(inputs >= 12);
  CHECK(functions >= 12);
}

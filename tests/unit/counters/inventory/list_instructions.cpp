// SPDX-License-Identifier: Apache-2.0
// list_instructions CUBIN...: what each function of a cubin can compute with, a line each, for
// scripts.
#include "guest/metrics/inventory/cubin.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

int main(int count, char** files) {
  for (int i = 1; i < count; ++i) {
    std::ifstream in{files[i], std::ios::binary};
    std::vector<char> const image{std::istreambuf_iterator<char>{in}, {}};
    auto const read = gpuprof::guest::read_cubin(
        {reinterpret_cast<std::uint8_t const*>(image.data()), image.size()},
        [&](std::string_view name, gpuprof::kernel_code const& code) {
          std::printf("%s\t%.*s\t%u\t%llx\t%s\t%u %u %u\n", files[i], static_cast<int>(name.size()),
                      name.data(), code.sm, static_cast<unsigned long long>(code.holds.bits()),
                      code.is_complete ? "complete" : "incomplete", code.fma.count,
                      code.fma.fp32_operations, code.fma.fp16_operations);
        });
    if (read) continue;
    std::fprintf(stderr, "%s: %s\n", files[i], read.message().c_str());
    return 1;
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Gives any bytes to the reader of cubins as the image of a module.
#pragma once

#include "guest/metrics/inventory/code_inventory.hpp"
#include "guest/metrics/inventory/cubin.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace gpuprof::fuzz {
using namespace guest;

/// Aborts when a promise is broken. How many functions were found.
inline std::size_t read_module(std::span<std::uint8_t const> image) {
  std::size_t functions = 0;
  auto const facts = look_at_cubin(image);
  // As the inventory does: sections may lie on each other, so that there is more code than bytes.
  if (facts && facts->code_bytes > 64 * image.size()) return 0;
  auto const begin = reinterpret_cast<char const*>(image.data());
  auto const read = read_cubin(image, [&](std::string_view name, kernel_code const& code) {
    ++functions;
    if (name.data() < begin || name.data() + name.size() > begin + image.size()) std::abort();
    if (facts && code.sm != facts->sm) std::abort();
  });
  if (read && !facts) std::abort();
  code_inventory inventory({.functions = 100, .code_bytes = 1 << 20});
  inventory.add_module(image);
  return functions;
}

}  // namespace gpuprof::fuzz

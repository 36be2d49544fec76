// SPDX-License-Identifier: Apache-2.0
// Reads the functions of a cubin, an ELF file of GPU code, with what each can compute with. Pure.
#pragma once

#include "base/result.hpp"
#include "model/kernel_code.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace gpuprof::guest {

struct cubin_facts {
  std::uint32_t sm = 0;        // 90 for sm_90 and sm_90a
  std::size_t code_bytes = 0;  // of all functions
};

/// An error where the image is none, or damaged. Reads no byte of the functions.
result<cubin_facts> look_at_cubin(std::span<std::uint8_t const> image);

/// Calls take(mangled name, code) for each function. What a function calls is part of it, whether
/// it is in its section or in one of its own; what the driver provides (printf, malloc, assert) has
/// no arithmetic worth the name. A function that calls through a pointer is not complete, nor one
/// that calls in a file without a call graph, nor one of a chip whose instructions are not known.
/// The name lasts as long as the image.
result<void> read_cubin(std::span<std::uint8_t const> image,
                        std::function<void(std::string_view, kernel_code const&)> const& take);

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Reads the functions of a cubin (an ELF file with GPU code) and which arithmetic each contains.
// Pure.
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

/// Returns an error if the image is not a cubin or is damaged. Does not read the code of the
/// functions.
result<cubin_facts> look_at_cubin(std::span<std::uint8_t const> image);

/// Calls take(mangled name, code) for each function. The code includes all functions that it calls,
/// in its own section or in others. Functions of the driver (printf, malloc, assert) are ignored:
/// they have no significant arithmetic. A function is not complete if it calls through a pointer,
/// if it makes calls and the file has no call graph, or if the instructions of its chip are not
/// known. The name stays valid as long as the image.
result<void> read_cubin(std::span<std::uint8_t const> image,
                        std::function<void(std::string_view, kernel_code const&)> const& take);

}  // namespace gpuprof::guest

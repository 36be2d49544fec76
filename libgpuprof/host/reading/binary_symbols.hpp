// SPDX-License-Identifier: Apache-2.0
// Names of functions at addresses of an executable or a library, from the symbols in its file.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace gpuprof::host {

/// Returns the mangled name of the function at each of these addresses that lies in one. Nothing
/// if there is no file at `path`, if it is none of ELF with 64 bits, or if it has another
/// `build_id` (hexadecimal digits; empty: none).
std::map<std::uint64_t, std::string> functions_at(std::string const& path,
                                                  std::string_view build_id,
                                                  std::span<std::uint64_t const> addresses);

}  // namespace gpuprof::host

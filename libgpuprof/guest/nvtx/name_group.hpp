// SPDX-License-Identifier: Apache-2.0
// What a name has in common with names that differ from it in numbers only.
#pragma once

#include <array>
#include <string_view>

namespace gpuprof {

/// Longer ones are cut.
using name_group = std::array<char, 256>;

/// "request 8f3a-1 / layer12" -> "request * / layer*". Written to `room`.
std::string_view group_by_words(std::string_view name, name_group& room) noexcept;

/// "request kqzv" -> "request*". Written to `room`.
std::string_view group_by_first_word(std::string_view name, name_group& room) noexcept;

}  // namespace gpuprof

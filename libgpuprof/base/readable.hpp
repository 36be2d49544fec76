// SPDX-License-Identifier: Apache-2.0
// Numbers with their units, as sentences have them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof {

/// "1.234 s", "12.3 us": a length of time with a unit that suits it.
std::string readable_time(double nanoseconds);
/// "12.3 MB".
std::string readable_bytes(double bytes);
/// 1234567 as "1,234,567".
std::string readable_count(std::uint64_t count);

/// "1 copy", "1,234 copies"; `plural` may go on: "1 kernel without time".
std::string counted(std::uint64_t count, std::string_view plural);

}  // namespace gpuprof

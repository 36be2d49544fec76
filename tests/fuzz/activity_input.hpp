// SPDX-License-Identifier: Apache-2.0
// What the fuzzer of the activity decoder does with one input; the corpus test does the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuprof::fuzz {

/// Decodes the input twice as a buffer of CUPTI records and returns how many there were. Aborts
/// when the decoder breaks a promise. The first byte chooses the version of CUPTI; a kernel's name,
/// a pointer in CUPTI's records, chooses one of some texts.
std::size_t decode_activity(std::span<std::uint8_t const> input);

}  // namespace gpuprof::fuzz

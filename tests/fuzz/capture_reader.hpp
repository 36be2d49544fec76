// SPDX-License-Identifier: Apache-2.0
// What the fuzzer of the capture reader does with one input; the corpus test does the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuprof::fuzz {

/// Reads every table of a capture made of the input. Aborts when the reader breaks a promise.
/// An input that starts with 'B' is a list of blocks {table, rows, length: u16 each; content} which
/// are compressed and given valid headers here, because no fuzzer guesses a checksum. All others
/// are the file itself.
void read_capture(std::span<std::uint8_t const> input);

}  // namespace gpuprof::fuzz

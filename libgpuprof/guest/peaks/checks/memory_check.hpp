// SPDX-License-Identifier: Apache-2.0
// What the memory kernels must have read and written, computed on the host. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::guest::peaks {

/// The random float at word `place` of a buffer that memory_fill filled, as bits.
std::uint32_t filled_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// What dram_write and l2_write leave at word `place`.
std::uint32_t written_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// Sum of all words of a filled buffer, modulo 2^32.
std::uint32_t filled_sum(std::uint32_t seed, std::uint64_t words) noexcept;

/// Fold (see span.cuh) that each block of l2_read must report of one round through its chunks of a
/// filled buffer; n rounds give n times as much.
std::vector<std::uint32_t> l2_read_folds(std::uint32_t seed, std::uint64_t bytes, unsigned blocks);
/// Folds that every block of these kernels must report.
std::uint32_t local_read_fold(std::uint32_t seed, std::uint64_t iterations);
std::uint32_t shared_write_fold(std::uint32_t seed, std::uint64_t iterations);

}  // namespace gpuprof::guest::peaks

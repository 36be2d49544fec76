// SPDX-License-Identifier: Apache-2.0
// Computes on the host what the memory kernels must read and write. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::guest::peaks {

/// Returns the bits of the random float at word `place` of a buffer filled by memory_fill.
std::uint32_t filled_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// Returns what dram_write and l2_write write to word `place`.
std::uint32_t written_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// Returns the sum of all words of a filled buffer, modulo 2^32.
std::uint32_t filled_sum(std::uint32_t seed, std::uint64_t words) noexcept;

/// Returns the fold (see span.cuh) that each block of l2_read must report after one round through
/// its chunks of a filled buffer. After n rounds it is n times as much.
std::vector<std::uint32_t> l2_read_folds(std::uint32_t seed, std::uint64_t bytes, unsigned blocks);
/// Return the fold that every block of these kernels must report.
std::uint32_t local_read_fold(std::uint32_t seed, std::uint64_t iterations);
std::uint32_t shared_write_fold(std::uint32_t seed, std::uint64_t iterations);

}  // namespace gpuprof::guest::peaks

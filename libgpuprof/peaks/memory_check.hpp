// What the memory kernels must have read and written, computed on the host. Pure.
#pragma once

#include <cstdint>

namespace gpuprof::peaks {

/// The random float at word `place` of a buffer that memory_fill filled, as bits.
std::uint32_t filled_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// What dram_write and l2_write leave at word `place`.
std::uint32_t written_word(std::uint32_t seed, std::uint64_t place) noexcept;
/// Sum of all words of a filled buffer, modulo 2^32.
std::uint32_t filled_sum(std::uint32_t seed, std::uint64_t words) noexcept;

/// Folds (see span.cuh) that every block of these kernels must report.
std::uint32_t l2_read_fold(std::uint32_t seed, std::uint64_t bytes, std::uint64_t rounds);
std::uint32_t local_read_fold(std::uint32_t seed, std::uint64_t iterations);
std::uint32_t shared_write_fold(std::uint32_t seed, std::uint64_t iterations);

}  // namespace gpuprof::peaks

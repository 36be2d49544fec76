// SPDX-License-Identifier: Apache-2.0
// What the memory kernels of libgpuprof/guest/peaks do to memory, and the folds their blocks
// report: their loops again, thread by thread, on memory of the host.
#pragma once

#include "guest/peaks/kernels/kernel_arguments.hpp"

#include <cstdint>
#include <string_view>

namespace gpuprof::replay {
using namespace guest;

bool is_memory_kernel(std::string_view kernel) noexcept;

/// Bytes that one block moves: in one iteration, or at all for kernels over DRAM.
double memory_work(std::string_view kernel);

/// Bytes that a grid of so many blocks reads at `input` and writes at `output`.
struct touched_bytes {
  std::uint64_t input = 0, output = 0;
};
touched_bytes touched_by(std::string_view kernel, unsigned blocks,
                         peaks::kernel_arguments const& a) noexcept;

/// Does what all blocks together do to memory. Running it twice leaves what running it once left,
/// except for the sum of dram_read.
void run_on_memory(std::string_view kernel, unsigned blocks, peaks::kernel_arguments const& a);

/// Of l2_write, l1_read, shared_read and shared_write: every block reports the same.
std::uint32_t fold_of_blocks(std::string_view kernel, peaks::kernel_arguments const& a);
/// Of l2_read, where each block reads chunks of its own.
std::uint32_t l2_read_fold(unsigned block, unsigned blocks, peaks::kernel_arguments const& a);

}  // namespace gpuprof::replay

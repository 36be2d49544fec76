// SPDX-License-Identifier: Apache-2.0
// What every peak kernel takes and returns: shared by the kernels and the code that launches
// them.
#pragma once

#include <cstdint>

namespace gpuprof::guest::peaks {

/// Written by one thread of a block around its measured loop. `clock` counts cycles of one SM and
/// compares within that SM only; `time` is the GPU's nanosecond timer, the same for all SMs.
struct block_span {
  std::uint64_t start_time, end_time;
  std::uint64_t start_clock, end_clock;
  std::uint32_t sm;
  std::uint32_t fold;  // of the block's results: equal operands must give equal folds
};

/// The one argument of every kernel, by value.
struct kernel_arguments {
  block_span* spans;         // one a block, or one for each of the blocks that are timed
  std::uint64_t iterations;  // of the measured loop
  void const* input;         // device memory, what is read
  void* output;              // device memory, what is written
  std::uint64_t bytes;       // that the kernel is to touch in all
  std::uint32_t seed;        // of operands that are made in the kernel
  std::uint32_t zeros;       // 1: operands are all zero
  std::uint32_t check;       // 1: store what the host needs to check the results
  std::uint32_t never;  // 0 always; only the host knows, so nothing that depends on it is dropped
};

}  // namespace gpuprof::guest::peaks

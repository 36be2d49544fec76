// SPDX-License-Identifier: Apache-2.0
// The arguments and results of every peak kernel, shared by kernels and host code.
#pragma once

#include <cstdint>

namespace gpuprof::guest::peaks {

/// Written by one thread of a block around its measured loop. `clock` counts cycles of one SM and
/// can be compared only within that SM. `time` is the GPU's nanosecond timer, which is the same for
/// all SMs.
struct block_span {
  std::uint64_t start_time, end_time;
  std::uint64_t start_clock, end_clock;
  std::uint32_t sm;
  std::uint32_t fold;  // sum over the block's results: equal operands must give equal folds
};

/// The single argument of every kernel, passed by value.
struct kernel_arguments {
  block_span* spans;         // one per block, or one for each block that is timed
  std::uint64_t iterations;  // iterations of the measured loop
  void const* input;         // device memory to read
  void* output;              // device memory to write
  std::uint64_t bytes;       // total bytes that the kernel accesses
  std::uint32_t seed;        // for operands that are made in the kernel
  std::uint32_t zeros;       // 1: operands are all zero
  std::uint32_t check;       // 1: store the results that the host needs for its check
  std::uint32_t never;       // always 0, unknown to the compiler: what depends on it is not dropped
};

}  // namespace gpuprof::guest::peaks

// SPDX-License-Identifier: Apache-2.0
// Kernels for measuring launch cost: an empty one, and one that reports that it has started.
#include "guest/peaks/kernels/kernel_arguments.hpp"

using gpuprof::guest::peaks::kernel_arguments;

extern "C" __global__ void nothing(kernel_arguments) {}

/// Writes a.seed to host memory at a.output, where the host polls it.
extern "C" __global__ void tell_host(kernel_arguments a) {
  *static_cast<std::uint32_t volatile*>(a.output) = a.seed;
  __threadfence_system();
}

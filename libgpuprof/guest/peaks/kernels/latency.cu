// SPDX-License-Identifier: Apache-2.0
// Kernels for what launching costs: one that does nothing, one that says it has begun.
#include "guest/peaks/kernels/kernel_arguments.hpp"

using gpuprof::guest::peaks::kernel_arguments;

extern "C" __global__ void nothing(kernel_arguments) {}

/// Writes a.seed to host memory at a.output, for a host that is looking.
extern "C" __global__ void tell_host(kernel_arguments a) {
  *static_cast<std::uint32_t volatile*>(a.output) = a.seed;
  __threadfence_system();
}

// SPDX-License-Identifier: Apache-2.0
// Table of the CUDA driver functions that we use, filled by dlopen; libcuda is never linked.
#pragma once

#include "base/result.hpp"

#include <cuda.h>

namespace gpuprof::guest {

#define GPUPROF_DRIVER_FUNCTIONS(X)    \
  X(cuInit)                            \
  X(cuDriverGetVersion)                \
  X(cuDeviceGetCount)                  \
  X(cuDeviceGet)                       \
  X(cuDeviceGetName)                   \
  X(cuDeviceGetUuid_v2)                \
  X(cuDeviceGetAttribute)              \
  X(cuDeviceTotalMem_v2)               \
  X(cuDeviceGetPCIBusId)               \
  X(cuStreamQuery)                     \
  X(cuStreamIsCapturing)               \
  X(cuThreadExchangeStreamCaptureMode) \
  X(cuCtxSetCurrent)                   \
  X(cuFuncGetParamInfo)                \
  X(cuKernelGetParamInfo)

/// A null member means that this driver does not have the function.
struct cuda_driver {
#define GPUPROF_MEMBER(name) decltype(&::name) name = nullptr;
  GPUPROF_DRIVER_FUNCTIONS(GPUPROF_MEMBER)
#undef GPUPROF_MEMBER
};

/// Opens libcuda.so.1 (the mapped one when there is one). Does not call cuInit.
result<cuda_driver> load_cuda_driver();

/// True if cuInit has been called in this process. Opens nothing.
bool cuda_is_up() noexcept;

/// Finds the function that primary_context_is_active() calls. Do not call it inside a call of the
/// program, because it uses the loader.
void find_primary_context_state() noexcept;
/// True if the primary context of a device is retained, or if that is not known.
bool primary_context_is_active(int device) noexcept;

/// Returns for example 13000 for CUDA 13.0; 0 if there is no driver.
int driver_cuda_version() noexcept;

}  // namespace gpuprof::guest

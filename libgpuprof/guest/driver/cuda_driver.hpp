// SPDX-License-Identifier: Apache-2.0
// The CUDA driver functions we use, as a table of pointers filled by dlopen; never links libcuda.
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

/// A null member means: this driver does not have it.
struct cuda_driver {
#define GPUPROF_MEMBER(name) decltype(&::name) name = nullptr;
  GPUPROF_DRIVER_FUNCTIONS(GPUPROF_MEMBER)
#undef GPUPROF_MEMBER
};

/// Opens libcuda.so.1 (the mapped one when there is one). Does not call cuInit.
result<cuda_driver> load_cuda_driver();

/// Somebody in this process has called cuInit. Opens nothing.
bool cuda_is_up() noexcept;

/// Where the next one asks. Not inside a call of the program's: it asks the loader.
void find_primary_context_state() noexcept;
/// Somebody retains the primary context of a device, or nobody can say.
bool primary_context_is_active(int device) noexcept;

/// 13000 for CUDA 13.0; 0 when there is no driver.
int driver_cuda_version() noexcept;

}  // namespace gpuprof::guest

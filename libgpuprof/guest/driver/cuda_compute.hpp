// SPDX-License-Identifier: Apache-2.0
// Table of the driver functions that run kernels and copies, filled by dlopen. Only for measuring
// peaks: tracing needs none of them.
#pragma once

#include "base/result.hpp"

#include <cuda.h>

namespace gpuprof::guest {

#define GPUPROF_COMPUTE_FUNCTIONS(X)             \
  X(cuInit)                                      \
  X(cuDeviceGet)                                 \
  X(cuDeviceGetCount)                            \
  X(cuDeviceGetAttribute)                        \
  X(cuDeviceCanAccessPeer)                       \
  X(cuDevicePrimaryCtxRetain)                    \
  X(cuDevicePrimaryCtxRelease_v2)                \
  X(cuCtxPushCurrent_v2)                         \
  X(cuCtxPopCurrent_v2)                          \
  X(cuCtxEnablePeerAccess)                       \
  X(cuCtxDisablePeerAccess)                      \
  X(cuModuleLoadData)                            \
  X(cuModuleUnload)                              \
  X(cuModuleGetFunction)                         \
  X(cuFuncSetAttribute)                          \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
  X(cuLaunchKernel)                              \
  X(cuMemGetInfo_v2)                             \
  X(cuMemAlloc_v2)                               \
  X(cuMemFree_v2)                                \
  X(cuMemHostAlloc)                              \
  X(cuMemFreeHost)                               \
  X(cuMemHostGetDevicePointer_v2)                \
  X(cuMemsetD8Async)                             \
  X(cuMemcpyHtoD_v2)                             \
  X(cuMemcpyDtoH_v2)                             \
  X(cuMemcpyHtoDAsync_v2)                        \
  X(cuMemcpyDtoHAsync_v2)                        \
  X(cuMemcpyDtoDAsync_v2)                        \
  X(cuMemcpyPeerAsync)                           \
  X(cuStreamCreate)                              \
  X(cuStreamDestroy_v2)                          \
  X(cuStreamSynchronize)                         \
  X(cuStreamWaitEvent)                           \
  X(cuEventCreate)                               \
  X(cuEventDestroy_v2)                           \
  X(cuEventRecord)                               \
  X(cuEventElapsedTime)                          \
  X(cuGraphCreate)                               \
  X(cuGraphDestroy)                              \
  X(cuGraphAddKernelNode_v2)                     \
  X(cuGraphInstantiateWithFlags)                 \
  X(cuGraphExecDestroy)                          \
  X(cuGraphLaunch)                               \
  X(cuGetErrorName)

/// All members are set: if a driver lacks one, loading fails with an error that says it is too old.
struct cuda_compute {
#define GPUPROF_MEMBER(name) decltype(&::name) name = nullptr;
  GPUPROF_COMPUTE_FUNCTIONS(GPUPROF_MEMBER)
#undef GPUPROF_MEMBER
};

/// Opens libcuda.so.1 (the mapped one when there is one). Does not call cuInit.
result<cuda_compute> load_cuda_compute();

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Which calls of CUDA are recorded where not all are: by names of the real CUPTI's headers.
#include "collect/blocking_calls.hpp"

#include "support/catch.hpp"

using namespace gpuprof;

TEST_CASE("calls that keep their thread waiting are blocking calls, in all their versions") {
  for (auto const* const name : {"cuCtxSynchronize",
                                 "cuCtxSynchronize_v2",
                                 "cuStreamSynchronize",
                                 "cuStreamSynchronize_ptsz",
                                 "cuEventSynchronize",
                                 "cuMemcpy",
                                 "cuMemcpy_ptds",
                                 "cuMemcpyHtoD_v2",
                                 "cuMemcpyDtoH_v2_ptds",
                                 "cuMemcpy3DPeer_ptds",
                                 "cuMemsetD2D32_v2_ptds",
                                 "cuMemAlloc_v2",
                                 "cuMemFree_v2",
                                 "cuMemHostAlloc_v2",
                                 "cuMemHostRegister_v2",
                                 "cuMemAllocManaged",
                                 "cuMemPoolTrimTo",
                                 "cuModuleLoadDataEx",
                                 "cuLibraryLoadData",
                                 "cuLibraryLoadFromFile",
                                 "cuGraphInstantiateWithParams_ptsz",
                                 "cuGraphInstantiate_v2",
                                 "cudaStreamSynchronize_v3020",
                                 "cudaStreamSynchronize_ptsz_v7000",
                                 "cudaDeviceSynchronize_v3020",
                                 "cudaEventSynchronize_v3020",
                                 "cudaMemcpy_ptds_v7000",
                                 "cudaMemset2D_v3020",
                                 "cudaMalloc_v3020",
                                 "cudaFree_v3020",
                                 "cudaHostAlloc_v3020",
                                 "cudaMallocManaged_v6000",
                                 "cudaGraphInstantiate_v12000"}) {
    INFO(name);
    CHECK(is_blocking_call(name));
  }
}

TEST_CASE("launches, asynchronous calls and questions are no blocking calls") {
  for (auto const* const name : {"cuLaunchKernel",
                                 "cuLaunchKernelEx_ptsz",
                                 "cuGraphLaunch",
                                 "cuMemcpyHtoDAsync_v2",
                                 "cuMemcpyAsync_ptsz",
                                 "cuMemcpyBatchAsync_ptsz",
                                 "cuMemsetD8Async",
                                 "cuMemAllocAsync",
                                 "cuMemFreeAsync_ptsz",
                                 "cuStreamQuery",
                                 "cuEventQuery",
                                 "cuEventRecord",
                                 "cuStreamWaitEvent",
                                 "cuMemGetInfo_v2",
                                 "cuMemPoolGetAttribute",
                                 "cuCtxGetCurrent",
                                 "cuDevicePrimaryCtxGetState",
                                 "cuModuleGetFunction",
                                 "cudaLaunchKernel_v7000",
                                 "cudaMemcpyAsync_v3020",
                                 "cudaMallocAsync_v11020",
                                 "cudaGetDevice_v3020",
                                 "cudaStreamIsCapturing_v10000",
                                 "cudaHostGetDevicePointer_v3020",
                                 "",
                                 "cu",
                                 "cuda",
                                 "_v2",
                                 "MemAlloc"}) {
    INFO(name);
    CHECK_FALSE(is_blocking_call(name));
  }
}

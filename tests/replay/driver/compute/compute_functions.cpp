// SPDX-License-Identifier: Apache-2.0
// The driver functions that run kernels and copies, as libgpuprof/guest/driver/cuda_compute.hpp
// lists them.
#include "replay/driver/compute/fat_binary.hpp"
#include "replay/driver/compute/gpu.hpp"
#include "replay/driver/compute/gpu_options.hpp"

#include <cuda.h>

#include <cstring>

#undef cuEventElapsedTime  // the header of CUDA 13 names a newer one; every driver has this one

namespace {

using namespace gpuprof::replay;

constexpr double link_bytes_per_ns = 55, dram_bytes_per_ns = 2300, peer_bytes_per_ns = 200;

/// Locked, with a context, and without a chosen for failure: else the code to return.
template <class Act>
CUresult with_gpu(char const* function, Act const& act) {
  auto& gpu = fake_gpu::get();
  std::lock_guard const locked(gpu.lock);
  if (auto const code = forced_result(function); code != CUDA_SUCCESS) return code;
  if (!gpu.has_context()) {
    gpu.misuse(std::string(function) + " without a context");
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return act(gpu);
}

/// Works also on a GPU that is lost.
template <class Act>
CUresult release(char const* function, Act const& act) {
  auto& gpu = fake_gpu::get();
  std::lock_guard const locked(gpu.lock);
  auto const done = act(gpu);
  auto const code = forced_result(function);
  return code != CUDA_SUCCESS ? code : done;
}

template <class Handle>
void* address_of(Handle handle) {
  return reinterpret_cast<void*>(handle);
}

template <class T, class Handle>
CUresult make(char const* function, char const* kind, Handle* made) {
  return with_gpu(function, [&](fake_gpu& gpu) {
    *made = reinterpret_cast<Handle>(gpu.make<T>(kind));
    return CUDA_SUCCESS;
  });
}
template <class Handle>
CUresult drop(char const* function, char const* kind, Handle handle) {
  return release(function, [&](fake_gpu& gpu) { return gpu.drop(address_of(handle), kind); });
}

}  // namespace

extern "C" {

CUresult cuGetErrorName(CUresult code, char const** name) {
  switch (static_cast<int>(code)) {
    case 2:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case 209:
      *name = "CUDA_ERROR_NO_BINARY_FOR_GPU";
      break;
    case 700:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case 719:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    default:
      *name = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

// Contexts -------------------------------------------------------------------

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  auto& gpu = fake_gpu::get();
  std::lock_guard const locked(gpu.lock);
  if (auto const code = forced_result("cuDevicePrimaryCtxRetain"); code != CUDA_SUCCESS)
    return code;
  return gpu.retain(context, device);
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return release("cuDevicePrimaryCtxRelease_v2",
                 [&](fake_gpu& gpu) { return gpu.release(device); });
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  auto& gpu = fake_gpu::get();
  std::lock_guard const locked(gpu.lock);
  if (auto const code = forced_result("cuCtxPushCurrent_v2"); code != CUDA_SUCCESS) return code;
  return gpu.push(context);
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return release("cuCtxPopCurrent_v2", [&](fake_gpu& gpu) { return gpu.pop(context); });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = 1;
  return CUDA_SUCCESS;
}
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned) {
  return with_gpu("cuCtxEnablePeerAccess", [](fake_gpu&) { return CUDA_SUCCESS; });
}
CUresult cuCtxDisablePeerAccess(CUcontext) {
  return with_gpu("cuCtxDisablePeerAccess", [](fake_gpu&) { return CUDA_SUCCESS; });
}

// Code -----------------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule* module, void const* image) {
  return with_gpu("cuModuleLoadData", [&](fake_gpu& gpu) {
    auto const targets = targets_of(image);
    if (targets.empty()) return CUDA_ERROR_INVALID_IMAGE;
    auto const& device = computing_device(gpu.current_device());
    auto const chip = static_cast<unsigned>(device.compute_major * 10 + device.compute_minor);
    if (!runs_on(targets, chip, options().takes_ptx)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    *module = reinterpret_cast<CUmodule>(gpu.make<fake_module>("module"));
    return CUDA_SUCCESS;
  });
}
CUresult cuModuleUnload(CUmodule module) {
  return drop("cuModuleUnload", "module", module);
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, char const* name) {
  return with_gpu("cuModuleGetFunction", [&](fake_gpu& gpu) {
    auto* const from = gpu.find<fake_module>(module, "module");
    if (from == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto* const found = gpu.function_of(from, name);
    if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
    *function = reinterpret_cast<CUfunction>(found);
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  return with_gpu("cuFuncSetAttribute", [&](fake_gpu& gpu) {
    constexpr int most = 227 * 1024;
    auto* const found = gpu.find_function(function);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
      if (value > most) return CUDA_ERROR_INVALID_VALUE;
      found->module->functions[found->name] = value;
    }
    return CUDA_SUCCESS;
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t shared_bytes) {
  return with_gpu("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&](fake_gpu& gpu) {
    if (gpu.find_function(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *blocks = shared_bytes > 100 * 1024 ? 1 : 2048 / threads;
    return CUDA_SUCCESS;
  });
}
CUresult cuLaunchKernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads,
                        unsigned, unsigned, unsigned shared_bytes, CUstream stream,
                        void** parameters, void**) {
  return with_gpu("cuLaunchKernel", [&](fake_gpu& gpu) {
    auto const* const found = gpu.find_function(function);
    auto* const on = gpu.stream_of(stream);
    if (found == nullptr || on == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    gpuprof::guest::peaks::kernel_arguments arguments{};
    std::memcpy(&arguments, parameters[0], sizeof arguments);
    return gpu.launch(*found, blocks, threads, shared_bytes, on, arguments);
  });
}

// Memory ---------------------------------------------------------------------

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return with_gpu("cuMemGetInfo_v2", [&](fake_gpu& gpu) {
    *free = gpu.free_bytes();
    *total = computing_device(gpu.current_device()).memory_bytes;
    return CUDA_SUCCESS;
  });
}
CUresult cuMemAlloc_v2(CUdeviceptr* to, std::size_t bytes) {
  return with_gpu("cuMemAlloc_v2", [&](fake_gpu& gpu) {
    void* made = nullptr;
    auto const code = gpu.allocate(&made, bytes, false);
    if (code == CUDA_SUCCESS) *to = reinterpret_cast<CUdeviceptr>(made);
    return code;
  });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return release("cuMemFree_v2",
                 [&](fake_gpu& gpu) { return gpu.free(address_of(address), false); });
}
CUresult cuMemHostAlloc(void** to, std::size_t bytes, unsigned) {
  return with_gpu("cuMemHostAlloc", [&](fake_gpu& gpu) { return gpu.allocate(to, bytes, true); });
}
CUresult cuMemFreeHost(void* address) {
  return release("cuMemFreeHost", [&](fake_gpu& gpu) { return gpu.free(address, true); });
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* to, void* address, unsigned) {
  return with_gpu("cuMemHostGetDevicePointer_v2", [&](fake_gpu& gpu) {
    if (!gpu.is_ours(address, 1)) return CUDA_ERROR_INVALID_VALUE;
    *to = reinterpret_cast<CUdeviceptr>(address);
    return CUDA_SUCCESS;
  });
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream) {
  return with_gpu("cuMemsetD8Async",
                  [&](fake_gpu& gpu) { return gpu.set(address_of(to), value, bytes); });
}

/// `device`: what must be memory of ours.
static CUresult copied(char const* function, void* to, void const* from, std::size_t bytes,
                       double rate, CUstream stream, std::initializer_list<void const*> device) {
  return with_gpu(function, [&](fake_gpu& gpu) {
    for (auto const* const address : device) {
      if (gpu.is_ours(address, bytes)) continue;
      gpu.misuse(std::string(function) + " beyond device memory");
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto* const on = gpu.stream_of(stream);
    if (on == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return gpu.copy(to, from, bytes, rate, on, function);
  });
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, void const* from, std::size_t bytes) {
  return copied("cuMemcpyHtoD_v2", address_of(to), from, bytes, link_bytes_per_ns, nullptr,
                {address_of(to)});
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copied("cuMemcpyDtoH_v2", to, address_of(from), bytes, link_bytes_per_ns, nullptr,
                {address_of(from)});
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, void const* from, std::size_t bytes,
                              CUstream stream) {
  return copied("cuMemcpyHtoDAsync_v2", address_of(to), from, bytes, link_bytes_per_ns, stream,
                {address_of(to)});
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copied("cuMemcpyDtoHAsync_v2", to, address_of(from), bytes, link_bytes_per_ns, stream,
                {address_of(from)});
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  return copied("cuMemcpyDtoDAsync_v2", address_of(to), address_of(from), bytes, dram_bytes_per_ns,
                stream, {address_of(to), address_of(from)});
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                           std::size_t bytes, CUstream stream) {
  return copied("cuMemcpyPeerAsync", address_of(to), address_of(from), bytes, peer_bytes_per_ns,
                stream, {address_of(to), address_of(from)});
}

// Streams, events, graphs ----------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return make<fake_stream>("cuStreamCreate", "stream", stream);
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return drop("cuStreamDestroy_v2", "stream", stream);
}
CUresult cuStreamSynchronize(CUstream stream) {
  return with_gpu("cuStreamSynchronize", [&](fake_gpu& gpu) {
    auto const* const found = gpu.stream_of(stream);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    gpu.wait_for(*found);
    return CUDA_SUCCESS;
  });
}
CUresult cuEventCreate(CUevent* event, unsigned) {
  return make<fake_event>("cuEventCreate", "event", event);
}
CUresult cuEventDestroy_v2(CUevent event) {
  return drop("cuEventDestroy_v2", "event", event);
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return with_gpu("cuEventRecord", [&](fake_gpu& gpu) {
    auto* const found = gpu.find<fake_event>(event, "event");
    auto* const on = gpu.stream_of(stream);
    if (found == nullptr || on == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    gpu.occupy(*on, 0);
    found->at_ns = on->busy_until_ns;
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return with_gpu("cuStreamWaitEvent", [&](fake_gpu& gpu) {
    auto const* const found = gpu.find<fake_event>(event, "event");
    auto* const on = gpu.stream_of(stream);
    if (found == nullptr || on == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    on->busy_until_ns = std::max(on->busy_until_ns, found->at_ns);
    return CUDA_SUCCESS;
  });
}
CUresult cuEventElapsedTime(float* ms, CUevent from, CUevent to) {
  return with_gpu("cuEventElapsedTime", [&](fake_gpu& gpu) {
    auto const* const first = gpu.find<fake_event>(from, "event");
    auto const* const second = gpu.find<fake_event>(to, "event");
    if (first == nullptr || second == nullptr || first->at_ns < 0 || second->at_ns < 0)
      return CUDA_ERROR_INVALID_HANDLE;
    *ms = static_cast<float>((second->at_ns - first->at_ns) * 1e-6);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  return make<fake_graph>("cuGraphCreate", "graph", graph);
}
CUresult cuGraphDestroy(CUgraph graph) {
  return drop("cuGraphDestroy", "graph", graph);
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, CUgraphNode const*, std::size_t,
                                 CUDA_KERNEL_NODE_PARAMS const* what) {
  return with_gpu("cuGraphAddKernelNode_v2", [&](fake_gpu& gpu) {
    auto* const found = gpu.find<fake_graph>(graph, "graph");
    if (found == nullptr || gpu.find_function(what->func) == nullptr)
      return CUDA_ERROR_INVALID_HANDLE;
    *node = reinterpret_cast<CUgraphNode>(std::uintptr_t{++found->nodes});
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  return with_gpu("cuGraphInstantiateWithFlags", [&](fake_gpu& gpu) {
    auto const* const found = gpu.find<fake_graph>(graph, "graph");
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    auto* const made = gpu.make<fake_graph>("executable graph");
    *made = *found;
    *executable = reinterpret_cast<CUgraphExec>(made);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return drop("cuGraphExecDestroy", "executable graph", executable);
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return with_gpu("cuGraphLaunch", [&](fake_gpu& gpu) {
    auto const* const found = gpu.find<fake_graph>(executable, "executable graph");
    auto* const on = gpu.stream_of(stream);
    if (found == nullptr || on == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    constexpr std::chrono::nanoseconds of_node{400};
    on->really_until = std::chrono::steady_clock::now() + of_node * found->nodes;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

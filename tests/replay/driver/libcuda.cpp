// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 with no GPU behind it: enough of the driver for a tool and for gpuprof-play.
#include "replay/driver/compute/gpu.hpp"
#include "replay/driver/tool_hooks.hpp"
#include "replay/format/machine.hpp"

#include <cuda.h>
#include <cudaProfiler.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <map>
#include <mutex>

namespace {

using namespace gpuprof::replay;

std::atomic<tool_hooks const*> the_tool{nullptr};
std::atomic<bool> is_initialized{false};
std::atomic<std::uint64_t> gpu_busy_until{0};
std::mutex streams_lock;  // protects the next
std::map<CUstream, std::uint64_t> streams_busy_until;
thread_local bool this_thread_captures = false;
// Far above the ids of any recording: calls made directly, not replayed.
std::atomic<std::uint32_t> next_correlation{0x40000000};

/// Handles that this driver and the player give out are multiples of 256, or CUDA's own for default
/// streams. The real driver reads whatever memory a handle points to.
template <class Handle>
void must_exist(Handle handle, char const* function) {
  auto const number = reinterpret_cast<std::uintptr_t>(handle);
  if (number % 256 == 0 || number <= 2) return;
  std::fprintf(stderr,
               "fake driver: broke the contract: %s was given a handle that does not exist\n",
               function);
  std::abort();
}

fake_device const* device_at(CUdevice device) {
  auto const& devices = this_machine().devices;
  auto const at = static_cast<std::size_t>(device);
  return device >= 0 && at < devices.size() ? &devices[at] : nullptr;
}

// As the driver does it inside cuInit: open the library named there, call InitializeInjection.
void inject() {
  char const* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "fake driver: CUDA_INJECTION64_PATH: %s\n", dlerror());
    return;
  }
  auto const initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr || initialize() == 0) {
    std::fprintf(stderr, "fake driver: %s did not accept the injection\n", path);
  }
}

void tear_down() {
  is_initialized = false;
  if (auto const* const tool = the_tool.load()) tool->driver_gone();
}

// exit() runs its handlers last in, first out: "early" has the driver gone before a tool that
// registered its own handler in InitializeInjection gets its turn.
void initialize_once() {
  char const* const order = std::getenv("REPLAY_DRIVER_TEARDOWN");
  bool const early = order != nullptr && std::strcmp(order, "early") == 0;
  if (!early) std::atexit(tear_down);
  is_initialized = true;
  inject();
  if (early) std::atexit(tear_down);
  if (auto const* const tool = the_tool.load()) {
    tool->resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, 0);
  }
}

/// A call of the program that tools can see.
CUresult traced(std::uint32_t cbid) {
  if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  auto const* const tool = the_tool.load();
  if (tool == nullptr) return CUDA_SUCCESS;
  std::uint64_t data = 0;
  driver_call call{.cbid = cbid, .correlation = next_correlation++, .correlation_data = &data};
  tool->call(call);
  call.site = CUPTI_API_EXIT;
  tool->call(call);
  return CUDA_SUCCESS;
}

std::uint64_t realtime_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// A question to the driver: tools get a record of it, whoever asked. The player asks none.
class recorded {
 public:
  explicit recorded(std::uint32_t cbid) {
    call_.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    call_.cbid = cbid;
    call_.start = realtime_ns();
  }
  ~recorded() {
    auto const* const tool = the_tool.load();
    if (tool == nullptr) return;
    call_.correlationId = next_correlation++;
    call_.end = realtime_ns();
    tool->record({.bytes = &call_, .complete_at = call_.end});
  }
  recorded(recorded const&) = delete;
  recorded& operator=(recorded const&) = delete;

 private:
  CUpti_ActivityAPI call_{};
};

int attribute_of(fake_device const& d, CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return d.compute_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return d.compute_minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return d.sm_count;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return static_cast<int>(d.l2_bytes);
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return static_cast<int>(d.memory_bus_bits);
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return static_cast<int>(d.max_sm_clock_khz);
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return static_cast<int>(d.max_memory_clock_khz);
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 228 * 1024;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1024;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

void gpuprof_fake_driver_set_tool(tool_hooks const* tool) {
  the_tool = tool;
}
tool_hooks const* gpuprof_fake_driver_tool() {
  return the_tool;
}
void gpuprof_fake_driver_busy_until(CUstream stream, std::uint64_t when) {
  auto until = gpu_busy_until.load();
  while (until < when && !gpu_busy_until.compare_exchange_weak(until, when)) {
  }
  std::lock_guard const hold(streams_lock);
  auto& on_stream = streams_busy_until[stream];
  on_stream = std::max(on_stream, when);
}
void gpuprof_fake_driver_capturing(bool begins) {
  this_thread_captures = begins;
}

CUresult cuInit(unsigned) {
  if (this_machine().devices.empty()) return CUDA_ERROR_NO_DEVICE;
  static std::once_flag once;
  std::call_once(once, initialize_once);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = this_machine().cuda_version;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  *count = static_cast<int>(this_machine().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  if (device_at(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  auto const* const d = device_at(device);
  if (d == nullptr || length <= 0) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<std::size_t>(length), "%s", d->name.c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  auto const* const d = device_at(device);
  if (d == nullptr || length <= 0) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(id, static_cast<std::size_t>(length), "%s", d->pci_bus.c_str());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  auto const* const d = device_at(device);
  if (d == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  auto const bytes = uuid_bytes(d->uuid);
  std::memcpy(uuid->bytes, bytes.data(), 16);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  if (device_at(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute_of(computing_device(device), which);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  auto const* const d = device_at(device);
  if (d == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = d->memory_bytes;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  *context = nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  for (;;) {
    auto const now = realtime_ns();
    auto const until = gpu_busy_until.load();
    if (now >= until) return CUDA_SUCCESS;
    auto const left = std::min<std::uint64_t>(until - now, 100'000'000);
    timespec const pause{0, static_cast<long>(left)};
    nanosleep(&pause, nullptr);
  }
}

CUresult cuStreamQuery(CUstream stream) {
  if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  must_exist(stream, __func__);
  recorded const call(CUPTI_DRIVER_TRACE_CBID_cuStreamQuery);
  std::lock_guard const hold(streams_lock);
  auto const found = streams_busy_until.find(stream);
  bool const busy = found != streams_busy_until.end() && found->second > realtime_ns();
  return busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  if (!is_initialized) return CUDA_ERROR_NOT_INITIALIZED;
  must_exist(stream, __func__);
  recorded const call(CUPTI_DRIVER_TRACE_CBID_cuStreamIsCapturing);
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = this_thread_captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

// All replayed kernels are given an address and a number.
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  must_exist(function, __func__);
  recorded const call(CUPTI_DRIVER_TRACE_CBID_cuFuncGetParamInfo);
  if (function == nullptr || offset == nullptr || index > 1) return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * index;
  if (size != nullptr) *size = 8;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() {
  return traced(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
}
CUresult cuProfilerStop() {
  return traced(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

CUresult cuGetErrorString(CUresult code, char const** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = code == CUDA_SUCCESS ? "no error" : "an error of the fake driver";
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(char const* name, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  Dl_info self{};
  dladdr(reinterpret_cast<void*>(&inject), &self);
  void* const library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = dlsym(library, name);
  for (auto const* const suffix : {"_v2", "_v3"}) {
    if (*function == nullptr) *function = dlsym(library, (std::string(name) + suffix).c_str());
  }
  if (library != nullptr) dlclose(library);
  if (status != nullptr) {
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/experiments/workbench.hpp"

#include "guest/peaks/kernels/kernel_images.hpp"

#include <algorithm>

namespace gpuprof::guest::peaks {
namespace {

std::string line_of(cuda_compute const& cuda, CUresult code, char const* call) {
  char const* name = nullptr;
  cuda.cuGetErrorName(code, &name);
  return std::string(call) + " failed with " +
         (name != nullptr ? name : ("error " + std::to_string(code)).c_str());
}

/// True if the image was not compiled for this chip.
bool has_no_code(CUresult code) noexcept {
  return code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_INVALID_IMAGE ||
         code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

}  // namespace

buffer::~buffer() {
  if (cuda_ == nullptr) return;
  if (host_ != nullptr) {
    cuda_->cuMemFreeHost(host_);
  } else {
    cuda_->cuMemFree_v2(device_);
  }
}

workbench::workbench(cuda_compute const& cuda, int ordinal) : cuda_(cuda) {
  expect(cuda_.cuDeviceGet(&device_, ordinal), "cuDeviceGet");
  expect(cuda_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  auto code = cuda_.cuCtxPushCurrent_v2(context_);
  if (code == CUDA_SUCCESS) {
    code = cuda_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
    if (code == CUDA_SUCCESS) return;
    CUcontext popped = nullptr;
    cuda_.cuCtxPopCurrent_v2(&popped);
  }
  cuda_.cuDevicePrimaryCtxRelease_v2(device_);
  expect(code, "making a stream");
}

workbench::~workbench() {
  cuda_.cuStreamSynchronize(stream_);
  cuda_.cuStreamDestroy_v2(stream_);
  for (auto const& [name, module] : modules_) {
    if (module != nullptr) cuda_.cuModuleUnload(module);
  }
  CUcontext popped = nullptr;
  cuda_.cuCtxPopCurrent_v2(&popped);
  cuda_.cuDevicePrimaryCtxRelease_v2(device_);
}

void workbench::expect(CUresult code, char const* call) const {
  if (code != CUDA_SUCCESS) throw cuda_failure(code, line_of(cuda_, code, call));
}

int workbench::attribute(CUdevice_attribute which) const {
  int value = 0;
  expect(cuda_.cuDeviceGetAttribute(&value, which, device_), "cuDeviceGetAttribute");
  return value;
}

unsigned workbench::sm_count() const {
  return static_cast<unsigned>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

std::uint64_t workbench::free_bytes() const {
  std::size_t free = 0, total = 0;
  expect(cuda_.cuMemGetInfo_v2(&free, &total), "cuMemGetInfo");
  return free;
}

CUfunction workbench::find_kernel(std::string_view image, std::string_view kernel) {
  auto found = modules_.find(image);
  if (found == modules_.end()) {
    auto const images = kernel_images();
    auto const file = std::find_if(images.begin(), images.end(),
                                   [&](kernel_image const& i) { return i.name == image; });
    CUmodule module = nullptr;
    if (file != images.end() && !file->code.empty()) {
      auto const code = cuda_.cuModuleLoadData(&module, file->code.data());
      if (has_no_code(code)) {
        module = nullptr;
      } else {
        expect(code, "cuModuleLoadData");
      }
    }
    found = modules_.emplace(std::string(image), module).first;
  }
  if (found->second == nullptr) return nullptr;
  CUfunction function = nullptr;
  auto const code =
      cuda_.cuModuleGetFunction(&function, found->second, std::string(kernel).c_str());
  if (code == CUDA_ERROR_NOT_FOUND) return nullptr;
  expect(code, "cuModuleGetFunction");
  return function;
}

unsigned workbench::resident_blocks(CUfunction function, unsigned threads,
                                    unsigned shared_bytes) const {
  if (shared_bytes != 0) {
    expect(cuda_.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(shared_bytes)),
           "cuFuncSetAttribute");
  }
  int blocks = 0;
  expect(cuda_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function,
                                                           static_cast<int>(threads), shared_bytes),
         "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<unsigned>(std::max(blocks, 1));
}

buffer workbench::allocate(std::uint64_t bytes) const {
  buffer made;
  expect(cuda_.cuMemAlloc_v2(&made.device_, bytes), "cuMemAlloc");
  made.cuda_ = &cuda_;
  made.bytes_ = bytes;
  return made;
}

buffer workbench::allocate_pinned(std::uint64_t bytes) const {
  buffer made;
  expect(cuda_.cuMemHostAlloc(&made.host_, bytes, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
  made.cuda_ = &cuda_;
  made.bytes_ = bytes;
  expect(cuda_.cuMemHostGetDevicePointer_v2(&made.device_, made.host_, 0),
         "cuMemHostGetDevicePointer");
  return made;
}

void workbench::launch(kernel_launch const& what, CUstream stream) const {
  auto arguments = what.arguments;
  void* parameters[] = {&arguments};
  expect(cuda_.cuLaunchKernel(what.function, what.blocks, 1, 1, what.threads, 1, 1,
                              what.shared_bytes, stream, parameters, nullptr),
         "cuLaunchKernel");
}

void workbench::wait() const {
  expect(cuda_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

void workbench::copy_to_host(void* to, CUdeviceptr from, std::uint64_t bytes) const {
  expect(cuda_.cuMemcpyDtoH_v2(to, from, bytes), "cuMemcpyDtoH");
}

}  // namespace gpuprof::guest::peaks

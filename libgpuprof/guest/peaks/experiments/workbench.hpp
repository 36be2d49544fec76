// SPDX-License-Identifier: Apache-2.0
// A GPU prepared for measuring: context, stream, kernels and memory. All are released at the end.
#pragma once

#include "guest/driver/cuda_compute.hpp"
#include "guest/peaks/kernels/kernel_arguments.hpp"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::guest::peaks {

/// A failed driver call. Used only inside peaks/: measure() converts it to text.
class cuda_failure : public std::runtime_error {
 public:
  cuda_failure(CUresult code, std::string const& what) : std::runtime_error(what), code_(code) {}
  bool is_out_of_memory() const noexcept { return code_ == CUDA_ERROR_OUT_OF_MEMORY; }

 private:
  CUresult code_;
};

class workbench;

/// Device memory, or host memory that the GPU can access.
class buffer {
 public:
  buffer() = default;
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~buffer();

  void* on_gpu() const noexcept { return reinterpret_cast<void*>(device_); }
  CUdeviceptr device() const noexcept { return device_; }
  void* on_host() const noexcept { return host_; }  // null for device memory
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  friend class workbench;
  void swap(buffer& other) noexcept {
    std::swap(cuda_, other.cuda_);
    std::swap(device_, other.device_);
    std::swap(host_, other.host_);
    std::swap(bytes_, other.bytes_);
  }

  cuda_compute const* cuda_ = nullptr;
  CUdeviceptr device_ = 0;
  void* host_ = nullptr;
  std::uint64_t bytes_ = 0;
};

struct kernel_launch {
  CUfunction function = nullptr;
  unsigned blocks = 0, threads = 0, shared_bytes = 0;
  kernel_arguments arguments{};
};

/// Makes the device's primary context current on this thread while the object exists. All functions
/// throw cuda_failure. For one thread.
class workbench {
 public:
  /// cuInit must have been called. `cuda` must outlive the object.
  workbench(cuda_compute const& cuda, int ordinal);
  ~workbench();
  workbench(workbench const&) = delete;
  workbench& operator=(workbench const&) = delete;

  cuda_compute const& cuda() const noexcept { return cuda_; }
  CUdevice device() const noexcept { return device_; }
  CUcontext context() const noexcept { return context_; }
  CUstream stream() const noexcept { return stream_; }
  int attribute(CUdevice_attribute which) const;
  unsigned sm_count() const;
  std::uint64_t free_bytes() const;

  /// Returns null if the image has no code for this chip, or does not contain this kernel.
  CUfunction find_kernel(std::string_view image, std::string_view kernel);
  /// Returns how many blocks of this kernel fit on one SM. Also enables its dynamic shared memory.
  unsigned resident_blocks(CUfunction function, unsigned threads, unsigned shared_bytes) const;

  buffer allocate(std::uint64_t bytes) const;
  buffer allocate_pinned(std::uint64_t bytes) const;

  void launch(kernel_launch const& what) const { launch(what, stream_); }
  void launch(kernel_launch const& what, CUstream stream) const;
  void wait() const;
  /// Returns false after a permanent error: the context is broken or the GPU is gone.
  bool answers() const noexcept { return cuda_.cuStreamSynchronize(stream_) == CUDA_SUCCESS; }
  void copy_to_host(void* to, CUdeviceptr from, std::uint64_t bytes) const;
  template <class T>
  std::vector<T> copied(buffer const& from, std::size_t count, std::size_t first = 0) const {
    std::vector<T> values(count);
    copy_to_host(values.data(), from.device() + first * sizeof(T), count * sizeof(T));
    return values;
  }

  /// Throws if `code` is not CUDA_SUCCESS.
  void expect(CUresult code, char const* call) const;

 private:
  cuda_compute const& cuda_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  std::map<std::string, CUmodule, std::less<>> modules_;  // null: no code for this chip
};

/// Temporarily makes the context of a workbench current.
class current_context {
 public:
  explicit current_context(workbench const& bench) : bench_(bench) {
    bench.expect(bench.cuda().cuCtxPushCurrent_v2(bench.context()), "cuCtxPushCurrent");
  }
  ~current_context() {
    CUcontext popped = nullptr;
    bench_.cuda().cuCtxPopCurrent_v2(&popped);
  }
  current_context(current_context const&) = delete;
  current_context& operator=(current_context const&) = delete;

 private:
  workbench const& bench_;
};

// Events and streams of the driver that are released automatically.

/// An event that keeps a reference to its driver.
class event {
 public:
  explicit event(workbench const& bench) : bench_(bench) {
    bench_.expect(bench_.cuda().cuEventCreate(&event_, CU_EVENT_DEFAULT), "cuEventCreate");
  }
  ~event() { bench_.cuda().cuEventDestroy_v2(event_); }
  event(event const&) = delete;
  event& operator=(event const&) = delete;

  void record(CUstream stream) {
    bench_.expect(bench_.cuda().cuEventRecord(event_, stream), "cuEventRecord");
  }
  void hold(CUstream stream) {
    bench_.expect(bench_.cuda().cuStreamWaitEvent(stream, event_, 0), "cuStreamWaitEvent");
  }
  double seconds_since(event const& earlier) const {
    float ms = 0;
    bench_.expect(bench_.cuda().cuEventElapsedTime(&ms, earlier.event_, event_),
                  "cuEventElapsedTime");
    return ms * 1e-3;
  }

 private:
  workbench const& bench_;
  CUevent event_ = nullptr;
};

class further_stream {
 public:
  explicit further_stream(workbench const& bench) : bench_(bench) {
    bench_.expect(bench_.cuda().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  }
  ~further_stream() {
    bench_.cuda().cuStreamSynchronize(stream_);
    bench_.cuda().cuStreamDestroy_v2(stream_);
  }
  further_stream(further_stream const&) = delete;
  further_stream& operator=(further_stream const&) = delete;
  CUstream get() const noexcept { return stream_; }

 private:
  workbench const& bench_;
  CUstream stream_ = nullptr;
};

}  // namespace gpuprof::guest::peaks

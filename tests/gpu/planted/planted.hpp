// SPDX-License-Identifier: Apache-2.0
// What the programs with one planted fault have in common: the loop of steps, and work beside the
// fault that is itself without one.
#pragma once

#include "../cuda_ok.hpp"

#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <functional>

namespace planted {

struct options {
  bool mended = false;    // without the fault
  unsigned steps = 1000;  // as many, unless `seconds` says how long
  double seconds = 0;
  double slower_percent = 0;  // steady: how much longer its second kernel takes
};

/// Calls `step` in NVTX ranges "step", and `wait` after every ten. Prints steps, their seconds and
/// the median step in ms; three steps before them are not counted.
void loop(options const& asked, std::function<void(unsigned step)> const& step,
          std::function<void()> const& wait);
/// The same, waiting for `stream`.
void loop(options const& asked, cudaStream_t stream,
          std::function<void(unsigned step)> const& step);

double seconds_since(std::chrono::steady_clock::time_point start);
/// Runs on the CPU for so long, calling nothing.
void spin_us(double microseconds);

unsigned multiprocessors();
/// At the greatest clock, which kernels with a known number of cycles hold.
double cycles_of_us(double microseconds);
cudaStream_t new_stream(unsigned flags = cudaStreamDefault);

template <class T>
T* device_array(std::size_t count) {
  T* array = nullptr;
  CUDA_OK(cudaMalloc(&array, count * sizeof(T)));
  CUDA_OK(cudaMemset(array, 0, count * sizeof(T)));
  return array;
}

/// Multiply-adds at the peak rate of the CUDA cores, on as many blocks as fit on the GPU: nothing
/// is to be said about it.
class good_work {
 public:
  explicit good_work(double microseconds);
  void launch(cudaStream_t stream) const;

 private:
  unsigned iterations_;
  float* values_;
};

/// Multiply-adds in blocks that take a multiprocessor each.
void launch_whole_sm_blocks(unsigned blocks, unsigned iterations, float* values,
                            cudaStream_t stream);
unsigned whole_sm_iterations(double microseconds);
inline constexpr unsigned whole_sm_threads = 1024;

// The programs, each in the file of its idea.
int sync_in_loop(options const&);
int alloc_in_loop(options const&);
int pageable_copies(options const&);
int copy_at_the_roof(options const&);
int tiny_kernels(options const&);
int strided_access(options const&);
int bank_conflicts(options const&);
int one_block_too_many(options const&);
int low_occupancy(options const&);
int serialized_streams(options const&);
int late_loader(options const&);
int known_waits(options const&);
int steady(options const&);

}  // namespace planted

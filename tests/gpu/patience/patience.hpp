// SPDX-License-Identifier: Apache-2.0
// What the programs that nothing may wait for have in common: streams, ordinary launches, a
// watchdog.
#pragma once

#include "../cuda_ok.hpp"

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

using steady = std::chrono::steady_clock;

inline double seconds_since(steady::time_point start) {
  return std::chrono::duration<double>(steady::now() - start).count();
}

inline void print(char const* name, double value) {
  std::printf("%s %.6f\n", name, value);
  std::fflush(stdout);
}

inline void print(char const* name, std::uint64_t value) {
  std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
  std::fflush(stdout);
}

/// Ends the process with code 7 and the line "hung" unless it has ended by itself in 20 s.
void start_watchdog();

cudaStream_t new_stream();

/// A word of host memory that kernels and the host both see.
class mapped_word {
 public:
  mapped_word();
  [[nodiscard]] int* on_gpu() const { return on_gpu_; }
  void set(int value) { on_host_->store(value); }
  [[nodiscard]] int get() const { return on_host_->load(); }

 private:
  std::atomic<int>* on_host_ = nullptr;  // kept to the end of the process: to free it would wait
  int* on_gpu_ = nullptr;
};

/// Short kernels on one stream whose result depends on nothing but their number.
class ordinary_work {
 public:
  ordinary_work();
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  /// One kernel, a different one each time.
  void launch() { launch_on(stream_); }
  void launch_on(cudaStream_t stream);
  /// Eight kernels, waiting for nothing.
  void round();
  void wait() { CUDA_OK(cudaStreamSynchronize(stream_)); }
  /// Waits for this stream and adds up what its kernels came to.
  std::uint64_t checksum();

 private:
  cudaStream_t stream_{};
  unsigned* values_ = nullptr;
  unsigned* sums_ = nullptr;
  unsigned launched_ = 0;
};

/// Returns as soon as *flag is not 0.
__global__ void wait_for_flag(int* flag, unsigned* woken);

/// A stream with a kernel that ends when the host says so.
class waiting_kernel {
 public:
  waiting_kernel();
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  /// Runs until release() is called.
  void launch();
  /// One whose flag is set: short and ordinary.
  void launch_released();
  void release() { flag_.set(1); }
  [[nodiscard]] mapped_word& flag() { return flag_; }
  void wait() { CUDA_OK(cudaStreamSynchronize(stream_)); }
  std::uint64_t checksum();

 private:
  cudaStream_t stream_{};
  mapped_word flag_;
  unsigned* woken_ = nullptr;
};

/// About 1.5 s of ordinary launches, those of `kernel` among them (when there is one), with some
/// waiting in between: a profiler that reads counters is busy with these kernels by the end.
void warm_up(ordinary_work& work, waiting_kernel* kernel);

/// How often a dangerous thing is done.
constexpr int repetitions = 20;

int persistent();
int host_flag();
int two_streams();
int wait_value();
int host_function();
int event_wait();
int shared_gpu(std::vector<std::string> const& words);
int captures();
int destroy();
int endless_at_exit(std::vector<std::string> const& words);
int launch_latency(std::vector<std::string> const& words);

// SPDX-License-Identifier: Apache-2.0
// Stream captures, contexts and streams that come and go, and an exit with a kernel that does not
// end, while another thread launches.
#include "patience.hpp"

#include <cuda.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

__global__ void count_up(int* counter) {
  if (threadIdx.x == 0) {
    ++*static_cast<int volatile*>(counter);
    __threadfence_system();
  }
}

/// Launches all the time, a hundred kernels ahead at most, and calls nothing else: what may be
/// called while another thread captures is launches alone.
class busy_thread {
 public:
  busy_thread() : stream_(new_stream()) {
    launch();
    CUDA_OK(cudaStreamSynchronize(stream_));
    thread_ = std::thread([this] {
      while (!stop_) {
        launch();
        while (!stop_ && launched_ - done_.get() > 100) std::this_thread::yield();
      }
    });
  }
  /// How many kernels are missing in the end: none.
  int stop() {
    stop_ = true;
    thread_.join();
    CUDA_OK(cudaStreamSynchronize(stream_));
    return launched_ - done_.get();
  }
  [[nodiscard]] int launched() const { return launched_; }

 private:
  void launch() {
    count_up<<<1, 32, 0, stream_>>>(done_.on_gpu());
    CUDA_OK(cudaGetLastError());
    ++launched_;
  }
  cudaStream_t stream_;
  mapped_word done_;
  std::atomic<int> launched_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

constexpr unsigned capture_values = 1024;

__global__ void step_values(unsigned* values) {
  values[threadIdx.x] = values[threadIdx.x] * 3 + 1;
}

/// Captures six kernels on two streams, launches the graph twice: 12 steps. False when the capture
/// or the result is not right.
bool capture_once(cudaStreamCaptureMode mode, unsigned* values) {
  cudaStream_t const first = new_stream(), second = new_stream();
  cudaEvent_t fork{}, join{};
  CUDA_OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CUDA_OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  CUDA_OK(cudaMemsetAsync(values, 0, capture_values * sizeof *values, first));
  CUDA_OK(cudaStreamSynchronize(first));

  cudaGraph_t graph{};
  bool fine = cudaStreamBeginCapture(first, mode) == cudaSuccess;
  auto const steps = [&](cudaStream_t stream) {
    for (int i = 0; i < 3; ++i) step_values<<<1, capture_values, 0, stream>>>(values);
  };
  steps(first);
  fine = fine && cudaEventRecord(fork, first) == cudaSuccess;
  fine = fine && cudaStreamWaitEvent(second, fork, 0) == cudaSuccess;
  steps(second);
  fine = fine && cudaEventRecord(join, second) == cudaSuccess;
  fine = fine && cudaStreamWaitEvent(first, join, 0) == cudaSuccess;
  cudaError_t const ended = cudaStreamEndCapture(first, &graph);
  if (ended != cudaSuccess) std::fprintf(stderr, "EndCapture: %s\n", cudaGetErrorString(ended));
  fine = fine && ended == cudaSuccess && graph != nullptr;
  if (fine) {
    cudaGraphExec_t exec{};
    fine = cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess;
    fine = fine && cudaGraphLaunch(exec, first) == cudaSuccess;
    fine = fine && cudaGraphLaunch(exec, first) == cudaSuccess;
    unsigned found[capture_values] = {};
    CUDA_OK(cudaMemcpyAsync(found, values, sizeof found, cudaMemcpyDeviceToHost, first));
    CUDA_OK(cudaStreamSynchronize(first));
    unsigned expected = 0;
    for (int i = 0; i < 12; ++i) expected = expected * 3 + 1;
    fine = fine &&
           std::all_of(found, found + capture_values, [&](unsigned v) { return v == expected; });
    (void)cudaGraphExecDestroy(exec);
    (void)cudaGraphDestroy(graph);
  }
  (void)cudaGetLastError();
  CUDA_OK(cudaEventDestroy(fork));
  CUDA_OK(cudaEventDestroy(join));
  CUDA_OK(cudaStreamDestroy(first));
  CUDA_OK(cudaStreamDestroy(second));
  return fine;
}

using create_context = CUresult (*)(CUcontext*, unsigned, CUdevice);
using destroy_context = CUresult (*)(CUcontext);

/// A context of its own with some launches; false where it could not be made.
bool context_once(create_context create, destroy_context destroy_it) {
  bool fine = true;
  std::thread([&] {  // a thread of its own: the current context of the others stays
    CUcontext context{};
    if (create(&context, 0, 0) != CUDA_SUCCESS) {
      fine = false;
      return;
    }
    ordinary_work work;
    work.round();
    work.wait();
    fine = destroy_it(context) == CUDA_SUCCESS;
  })
      .join();
  return fine;
}

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Runs for a minute, which is for ever here, and releases the GPU should all else fail.
__global__ void endless() {
  unsigned long long start = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < 60'000'000'000ull);
}

int end_with_endless_kernel(std::string const& how, int report) {
  ordinary_work work;
  warm_up(work, nullptr);
  cudaStream_t const stream = new_stream();
  endless<<<1, 32, 0, stream>>>();
  work.round();
  work.wait();
  auto const now = monotonic_ns();
  if (write(report, &now, sizeof now) != sizeof now) return 5;
  if (how == "quick_exit") std::quick_exit(0);
  std::exit(0);
}

/// Seconds from a child's call of `how` to its end, which is enforced after 6.
double seconds_to_end(std::string const& how) {
  int ends[2] = {};
  if (pipe2(ends, 0) != 0) return -1;
  auto const report = std::to_string(ends[1]);
  char self[] = "/proc/self/exe", name[] = "endless-at-exit";
  auto way = how;
  auto end = report;
  char* const arguments[] = {self, name, way.data(), end.data(), nullptr};
  pid_t other = 0;
  if (posix_spawn(&other, self, nullptr, nullptr, arguments, environ) != 0) return -1;
  close(ends[1]);
  std::int64_t called = 0;
  bool const told = read(ends[0], &called, sizeof called) == sizeof called;
  close(ends[0]);
  int status = 0;
  while (waitpid(other, &status, WNOHANG) == 0) {
    if (told && monotonic_ns() - called > 6'000'000'000) kill(other, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return told ? static_cast<double>(monotonic_ns() - called) * 1e-9 : -1;
}

}  // namespace

int captures() {
  auto const start = steady::now();
  unsigned* values = nullptr;
  CUDA_OK(cudaMalloc(&values, capture_values * sizeof *values));
  ordinary_work work;
  step_values<<<1, capture_values>>>(values);
  CUDA_OK(cudaDeviceSynchronize());
  warm_up(work, nullptr);
  busy_thread busy;
  unsigned captured = 0, fine = 0;
  for (int i = 0; i < repetitions; ++i) {
    for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                            cudaStreamCaptureModeRelaxed}) {
      captured += 2;
      fine += capture_once(mode, values) ? 1 : 0;
      std::thread([&] { fine += capture_once(mode, values) ? 1 : 0; }).join();
    }
    work.round();
    work.wait();
  }
  int const missing = busy.stop();
  print("captures", std::uint64_t{captured});
  print("captures_fine", std::uint64_t{fine});
  print("launches_beside", static_cast<std::uint64_t>(busy.launched()));
  print("checksum", work.checksum() + fine + static_cast<std::uint64_t>(missing));
  print("seconds", seconds_since(start));
  return fine == captured && missing == 0 ? 0 : 4;
}

int destroy() {
  auto const start = steady::now();
  std::uint64_t sum = 0, made = 0;
  {
    ordinary_work work;
    warm_up(work, nullptr);
    busy_thread busy;
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    auto const create = reinterpret_cast<create_context>(
        driver == nullptr ? nullptr : dlsym(driver, "cuCtxCreate_v2"));
    auto const destroy_it = reinterpret_cast<destroy_context>(
        driver == nullptr ? nullptr : dlsym(driver, "cuCtxDestroy_v2"));
    for (int i = 0; i < repetitions; ++i) {
      if (i % 5 == 0 && create != nullptr && destroy_it != nullptr)
        made += context_once(create, destroy_it) ? 1 : 0;
      for (int j = 0; j < 20; ++j) {
        cudaStream_t const stream = new_stream();
        cudaEvent_t event{};
        CUDA_OK(cudaEventCreate(&event));
        work.wait();
        work.launch_on(stream);
        CUDA_OK(cudaEventRecord(event, stream));
        CUDA_OK(cudaStreamWaitEvent(work.stream(), event, 0));
        work.launch();
        CUDA_OK(cudaStreamDestroy(stream));  // with its kernel under way, perhaps
        CUDA_OK(cudaEventDestroy(event));
      }
      work.round();
    }
    sum = work.checksum();
    sum += static_cast<std::uint64_t>(busy.stop());
  }
  CUDA_OK(cudaDeviceReset());
  ordinary_work again;  // in a new primary context
  again.round();
  sum = sum * 31 + again.checksum();
  CUDA_OK(cudaDeviceReset());
  print("contexts", made);
  print("checksum", sum + made);
  print("seconds", seconds_since(start));
  return 0;
}

int endless_at_exit(std::vector<std::string> const& words) {
  if (words.size() > 2) return end_with_endless_kernel(words[1], std::atoi(words[2].c_str()));
  auto const start = steady::now();
  for (auto const* const how : {"exit", "quick_exit"}) {
    auto const seconds = seconds_to_end(how);
    if (seconds < 0) return 5;
    print((std::string(how) + "_seconds").c_str(), seconds);
  }
  print("checksum", std::uint64_t{1});
  print("seconds", seconds_since(start));
  return 0;
}

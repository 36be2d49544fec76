// SPDX-License-Identifier: Apache-2.0
// Two processes on one GPU whose kernels pass a baton through host memory: whoever keeps the GPU to
// itself while it waits for a kernel waits for ever.
#include "patience.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

constexpr int passes = 10;  // each takes as long as a turn of a process on the GPU
constexpr int batches = 5;

/// In memory that both processes map.
struct shared_words {
  std::atomic<int> turn, ready, ended;
};
static_assert(std::atomic<int>::is_always_lock_free);

/// Takes the baton when turn is 2 i + me, and hands it on, `passes` times.
__global__ void pass_baton(int* turn, int me, int from) {
  if (threadIdx.x != 0) return;
  auto* const seen = static_cast<int volatile*>(turn);
  for (int i = 0; i < passes; ++i) {
    while (*seen != from + 2 * i + me) __nanosleep(500);
    __threadfence_system();
    *seen = from + 2 * i + me + 1;
    __threadfence_system();
  }
}

void wait_until(std::atomic<int> const& word, int value) {
  while (word.load() < value) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::uint64_t pass_all(shared_words& shared, int me) {
  ordinary_work work;
  CUDA_OK(cudaHostRegister(&shared, 4096, cudaHostRegisterMapped));
  void* turn = nullptr;
  CUDA_OK(cudaHostGetDevicePointer(&turn, &shared.turn, 0));
  cudaStream_t const stream = new_stream();
  warm_up(work, nullptr);
  ++shared.ready;
  wait_until(shared.ready, 2);
  for (int batch = 0; batch < batches; ++batch) {
    pass_baton<<<1, 32, 0, stream>>>(static_cast<int*>(turn), me, 2 * passes * batch);
    CUDA_OK(cudaGetLastError());
    work.round();
    CUDA_OK(cudaStreamSynchronize(stream));
    work.wait();
  }
  return work.checksum();
}

int child(int file) {
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 5;
  auto& shared = *static_cast<shared_words*>(memory);
  pass_all(shared, 1);
  shared.ended = 1;
  return 0;
}

}  // namespace

int shared_gpu(std::vector<std::string> const& words) {
  if (words.size() > 1) return child(std::atoi(words[1].c_str()));
  auto const start = steady::now();
  int const file = memfd_create("gpu_patience", 0);  // the child inherits it
  if (file < 0 || ftruncate(file, 4096) != 0) return 5;
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 5;
  auto& shared = *static_cast<shared_words*>(memory);  // zeros, as new files are
  char self[] = "/proc/self/exe", name[] = "shared-gpu";
  auto inherited = std::to_string(file);
  char* const arguments[] = {self, name, inherited.data(), nullptr};
  pid_t other = 0;
  if (posix_spawn(&other, self, nullptr, nullptr, arguments, environ) != 0) return 5;
  auto const sum = pass_all(shared, 0);
  int status = 0;
  waitpid(other, &status, 0);
  print("checksum", sum + (static_cast<std::uint64_t>(shared.turn.load()) << 32));
  print("seconds", seconds_since(start));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
}

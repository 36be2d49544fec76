// SPDX-License-Identifier: Apache-2.0
// Programs whose threads, contexts, modules, graphs and ranges come and go, one a subcommand. Each prints
// "name value" lines; none knows the profiler.
#include "cuda_ok.hpp"

#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <malloc.h>
#include <map>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) {
  return std::chrono::duration<double>(steady::now() - start).count();
}

void print(char const* name, double value) {
  std::printf("%s %.3f\n", name, value);
  std::fflush(stdout);
}

int argument(std::vector<std::string> const& words, std::size_t i, int otherwise) {
  return i < words.size() ? std::atoi(words[i].c_str()) : otherwise;
}

void ok(CUresult code, char const* what) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA driver error %d\n", what, int(code));
  std::exit(3);
}

void* driver_symbol(char const* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = driver == nullptr ? nullptr : dlsym(driver, name);
  if (found == nullptr) {
    std::fprintf(stderr, "the driver has no %s\n", name);
    std::exit(3);
  }
  return found;
}

// cuda.h names the version of each call by macros. Not linked: the program shall start where there is no driver.
#define NAME_OF_EXPANDED(name) #name
#define NAME_OF(name) NAME_OF_EXPANDED(name)
#define DRIVER(call, ...) \
  ok(reinterpret_cast<decltype(&call)>(driver_symbol(NAME_OF(call)))(__VA_ARGS__), #call)

__global__ void add_one(float* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}

float* new_numbers(int n) {
  float* x = nullptr;
  CUDA_OK(cudaMalloc(&x, n * sizeof(float)));
  return x;
}

/// Adds for so long, waiting every hundred kernels.
long add_for(double seconds, float* x, int n, cudaStream_t stream) {
  long launched = 0;
  for (auto const begin = steady::now(); seconds_since(begin) < seconds; launched += 100) {
    for (int i = 0; i < 100; ++i) add_one<<<(n + 255) / 256, 256, 0, stream>>>(x, n);
    CUDA_OK(cudaStreamSynchronize(stream));
  }
  return launched;
}

/// More resets of the primary context than a profiler is likely to have places for.
int resets(std::vector<std::string> const& words) {
  long kernels = 0;
  for (int round = 0; round < argument(words, 1, 8); ++round) {
    kernels += add_for(0.7, new_numbers(1 << 20), 1 << 20, nullptr);
    CUDA_OK(cudaDeviceReset());
  }
  print("kernels", double(kernels));
  return 0;
}

/// A context of the driver API beside the primary one, on the same GPU, both in turn.
int two_contexts(std::vector<std::string> const&) {
  CUDA_OK(cudaSetDevice(0));
  float* const mine = new_numbers(1 << 20);
  CUcontext other{};
#if CUDA_VERSION >= 13000
  DRIVER(cuCtxCreate, &other, nullptr, 0, 0);
#else
  DRIVER(cuCtxCreate, &other, 0, 0);
#endif
  float* const theirs = new_numbers(1 << 20);
  DRIVER(cuCtxPopCurrent, nullptr);
  long kernels = 0;
  for (int i = 0; i < 10; ++i) {
    kernels += add_for(0.2, mine, 1 << 20, nullptr);
    DRIVER(cuCtxPushCurrent, other);
    kernels += add_for(0.2, theirs, 1 << 20, nullptr);
    DRIVER(cuCtxPopCurrent, nullptr);
  }
  DRIVER(cuCtxDestroy, other);
  print("kernels", double(kernels));
  return 0;
}

/// A part of the GPU's multiprocessors with a context of their own.
int green_context(std::vector<std::string> const&) {
  float* const x = new_numbers(1 << 20);
  CUdevResource all{}, part{}, rest{};
  DRIVER(cuDeviceGetDevResource, 0, &all, CU_DEV_RESOURCE_TYPE_SM);
  unsigned groups = 1;
  DRIVER(cuDevSmResourceSplitByCount, &part, &groups, &all, &rest, 0, 16);
  CUdevResourceDesc description{};
  DRIVER(cuDevResourceGenerateDesc, &description, &part, 1);
  CUgreenCtx green{};
  DRIVER(cuGreenCtxCreate, &green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM);
  CUstream stream{};
  DRIVER(cuGreenCtxStreamCreate, &stream, green, CU_STREAM_NON_BLOCKING, 0);
  long kernels = 0;
  for (int i = 0; i < 5; ++i) {
    kernels += add_for(0.3, x, 1 << 20, stream);
    kernels += add_for(0.3, x, 1 << 20, nullptr);
  }
  DRIVER(cuStreamDestroy, stream);
  DRIVER(cuGreenCtxDestroy, green);
  print("kernels", double(kernels));
  return 0;
}

struct canceled_thread {
  pthread_t id{};
  cudaStream_t stream{};
  float* x = nullptr;
};

/// Launches until it is canceled, which it can be in its ranges: the driver itself hangs programs whose launches are canceled.
void* until_canceled(void* data) {
  auto const& mine = *static_cast<canceled_thread*>(data);
  for (;;) {
    nvtxRangePushA("canceled");
    int before = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    add_one<<<1, 32, 0, mine.stream>>>(mine.x, 32);
    pthread_setcancelstate(before, nullptr);
    nvtxRangePop();
    usleep(100);  // here, too; and launches that fill the queue keep streams from being destroyed
  }
}

int cancel(std::vector<std::string> const& words) {
  float* const x = new_numbers(32);
  int ended = 0;
  for (int round = 0; round < argument(words, 1, 20); ++round) {
    std::vector<canceled_thread> threads(8);
    for (auto& t : threads) {
      CUDA_OK(cudaStreamCreate(&t.stream));
      t.x = x;
      pthread_create(&t.id, nullptr, until_canceled, &t);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (auto& t : threads) pthread_cancel(t.id);
    for (auto& t : threads) {
      void* how = nullptr;
      pthread_join(t.id, &how);
      ended += how == PTHREAD_CANCELED;
      CUDA_OK(cudaStreamSynchronize(t.stream));
      CUDA_OK(cudaStreamDestroy(t.stream));
    }
  }
  print("canceled", ended);
  return 0;
}

/// Threads that launch a little and end, hundreds at once.
long launch_on_threads(int threads, int launches) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([=] {
      float* const x = new_numbers(32);
      for (int i = 0; i < launches; ++i) add_one<<<1, 32, 0, cudaStreamPerThread>>>(x, 32);
      CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
      CUDA_OK(cudaFree(x));
    });
  }
  for (auto& t : all) t.join();
  return long(threads) * launches;
}

int many_threads(std::vector<std::string> const& words) {
  new_numbers(1);
  print("kernels", double(launch_on_threads(argument(words, 1, 1000), argument(words, 2, 100))));
  return 0;
}

/// A range with a text of its own around each kernel, as for the ids of requests.
int many_texts(std::vector<std::string> const& words) {
  float* const x = new_numbers(32);
  int const count = argument(words, 1, 300'000);
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(("request " + std::to_string(i * 2654435761u)).c_str());
    add_one<<<1, 32>>>(x, 32);
    nvtxRangePop();
  }
  CUDA_OK(cudaDeviceSynchronize());
  print("kernels", count);
  return 0;
}

std::string const ptx_before = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry ";
std::string const ptx_after = "() { ret; }\n";

/// A module with one kernel of this name, which runs four times.
long run_module(std::string const& name) {
  CUmodule module{};
  CUfunction function{};
  DRIVER(cuModuleLoadData, &module, (ptx_before + name + ptx_after).c_str());
  DRIVER(cuModuleGetFunction, &function, module, name.c_str());
  for (int i = 0; i < 4; ++i) DRIVER(cuLaunchKernel, function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  DRIVER(cuCtxSynchronize);
  DRIVER(cuModuleUnload, module);
  return 4;
}

/// Code whose handles are likely to be used again by what is loaded next.
int modules(std::vector<std::string> const& words) {
  new_numbers(1);
  int const count = argument(words, 1, 500);
  long kernels = 0;
  for (int i = 0; i < count; ++i) kernels += run_module("module_" + std::to_string(i % 7));
  print("kernels", double(kernels));
  print("kernels_of_module_3", 4.0 * (count / 7 + (count % 7 > 3)));
  return 0;
}

cudaGraph_t captured(float* x, int nodes, int blocks, cudaStream_t stream) {
  cudaGraph_t graph{};
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < nodes; ++i) add_one<<<blocks, 256, 0, stream>>>(x, 256);
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

/// A graph that is instantiated, launched, updated with other kernels, launched again and destroyed.
long run_graph(float* x, int nodes, cudaStream_t stream) {
  cudaGraph_t const first = captured(x, nodes, 1, stream), second = captured(x, nodes, 2, stream);
  cudaGraphExec_t exec{};
  CUDA_OK(cudaGraphInstantiate(&exec, first, 0));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  cudaGraphExecUpdateResultInfo result{};
  CUDA_OK(cudaGraphExecUpdate(exec, second, &result));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(first));
  CUDA_OK(cudaGraphDestroy(second));
  return 2L * nodes;
}

int graphs(std::vector<std::string> const& words) {
  float* const x = new_numbers(256);
  cudaStream_t stream{};
  CUDA_OK(cudaStreamCreate(&stream));
  long kernels = 0;
  nvtxRangePushA("graphs");
  for (int i = 0; i < argument(words, 1, 300); ++i) kernels += run_graph(x, 20, stream);
  nvtxRangePop();
  print("kernels", double(kernels));
  return 0;
}

/// One long graph beside a thread that launches all the time: both keep their ranges.
int graph_beside_launches(std::vector<std::string> const& words) {
  float* const x = new_numbers(1 << 16);
  int const nodes = 20'000, times = argument(words, 1, 5);
  bool volatile done = false;
  long beside = 0;
  std::thread busy([&] {
    cudaStream_t stream{};
    CUDA_OK(cudaStreamCreate(&stream));
    nvtxRangePushA("beside");
    while (!done) beside += add_for(0.05, x, 256, stream);
    nvtxRangePop();
  });
  cudaStream_t stream{};
  CUDA_OK(cudaStreamCreate(&stream));
  cudaGraphExec_t exec{};
  CUDA_OK(cudaGraphInstantiate(&exec, captured(x, nodes, 1, stream), 0));
  nvtxRangePushA("long graph");
  for (int i = 0; i < times; ++i) CUDA_OK(cudaGraphLaunch(exec, stream));
  nvtxRangePop();
  CUDA_OK(cudaStreamSynchronize(stream));
  done = true;
  busy.join();
  print("in_graph", double(nodes) * times);
  print("beside", double(beside));
  return 0;
}

/// A server that names its ranges, then forks workers, which use CUDA.
int prefork(std::vector<std::string> const& words) {
  nvtxRangePushA("before the workers");
  nvtxRangePop();
  int const workers = argument(words, 1, 3);
  int well = 0;
  for (int i = 0; i < workers; ++i) {
    if (fork() != 0) continue;
    float* const x = new_numbers(32);
    for (int k = 0; k < 1000; ++k) add_one<<<1, 32>>>(x, 32);
    CUDA_OK(cudaDeviceSynchronize());
    std::exit(0);
  }
  for (int status = 0; wait(&status) > 0;) well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  print("workers", well);
  return well == workers ? 0 : 4;
}

long resident_kib() {
  long pages = 0, resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/// What malloc has given out, MiB.
double allocated_mib() {
  auto const known = mallinfo2();
  return double(known.uordblks + known.hblkhd) / (1 << 20);
}

/// All of it or some parts ("threads,graphs"), over and over; "resident_mib" and "allocated_mib" every five seconds.
int soak(std::vector<std::string> const& words) {
  auto const only = words.size() > 2 ? words[2] : std::string{};
  auto const has = [&](char const* part) { return only.empty() || only.find(part) != only.npos; };
  float* const x = new_numbers(1 << 16);
  cudaStream_t stream{};
  CUDA_OK(cudaStreamCreate(&stream));
  long kernels = 0, rounds = 0, told = 0;
  for (auto const begin = steady::now(); seconds_since(begin) < argument(words, 1, 60); ++rounds) {
    nvtxDomainHandle_t const domain = nvtxDomainCreateA(("domain " + std::to_string(rounds % 100)).c_str());
    nvtxRangePushA(("round " + std::to_string(rounds)).c_str());
    if (has("threads")) kernels += launch_on_threads(16, 50);
    if (has("graphs")) kernels += run_graph(x, 10, stream);
    if (has("modules")) kernels += run_module("soak_" + std::to_string(rounds % 1000));
    if (has("launches")) kernels += add_for(0.01, x, 1 << 16, stream);
    nvtxRangePop();
    nvtxDomainDestroy(domain);
    if (seconds_since(begin) >= 5.0 * (told + 1)) {
      ++told;
      print("resident_mib", double(resident_kib()) / 1024);
      print("allocated_mib", allocated_mib());
    }
  }
  print("kernels", double(kernels));
  print("rounds", double(rounds));
  return 0;
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> words(values + 1, values + count);
  std::map<std::string, std::function<int(std::vector<std::string> const&)>> const all = {
      {"resets", resets},
      {"two-contexts", two_contexts},
      {"green-context", green_context},
      {"cancel", cancel},
      {"many-threads", many_threads},
      {"many-texts", many_texts},
      {"modules", modules},
      {"graphs", graphs},
      {"graph-beside-launches", graph_beside_launches},
      {"prefork", prefork},
      {"soak", soak}};
  if (words.empty() || all.count(words[0]) == 0) {
    std::fprintf(stderr, "which program? one of:");
    for (auto const& [name, run] : all) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  return all.at(words[0])(words);
}

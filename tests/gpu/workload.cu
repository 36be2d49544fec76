// SPDX-License-Identifier: Apache-2.0
// The programs gpu-check profiles, one a subcommand. Each prints "name value" lines; none knows the
// profiler.
#include "counted_work.hpp"
#include "cuda_ok.hpp"
#include "mixed_work.hpp"

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using steady = std::chrono::steady_clock;

double nanoseconds_since(steady::time_point start) {
  return std::chrono::duration<double, std::nano>(steady::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void print(char const* name, double value) {
  std::printf("%s %.3f\n", name, value);
  std::fflush(stdout);
}

int argument(std::vector<std::string> const& words, std::size_t i, int otherwise) {
  return i < words.size() ? std::atoi(words[i].c_str()) : otherwise;
}

__global__ void empty() {}
__global__ void add_one(float* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}
template <int Shape>
__global__ void shaped(float* x) {
  x[threadIdx.x + Shape] += Shape;
}
__global__ void spin(long long cycles) {
  long long const start = clock64();
  while (clock64() - start < cycles) {
  }
}

double ns_per_launch(int count, int repeats) {
  std::vector<double> times;
  for (int r = 0; r < repeats; ++r) {
    auto const start = steady::now();
    for (int i = 0; i < count; ++i) empty<<<1, 32>>>();
    CUDA_OK(cudaDeviceSynchronize());
    times.push_back(nanoseconds_since(start) / count);
  }
  return median(times);
}

struct graph_of_empty_kernels {
  cudaStream_t stream{};
  cudaGraphExec_t exec{};
  explicit graph_of_empty_kernels(int nodes) {
    CUDA_OK(cudaStreamCreate(&stream));
    cudaGraph_t graph{};
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; ++i) empty<<<1, 32, 0, stream>>>();
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  }
};

double ns_per_node(int nodes, int launches, int repeats) {
  graph_of_empty_kernels const g(nodes);
  for (int i = 0; i < 10; ++i) CUDA_OK(cudaGraphLaunch(g.exec, g.stream));
  CUDA_OK(cudaStreamSynchronize(g.stream));
  std::vector<double> times;
  for (int r = 0; r < repeats; ++r) {
    auto const start = steady::now();
    for (int i = 0; i < launches; ++i) CUDA_OK(cudaGraphLaunch(g.exec, g.stream));
    CUDA_OK(cudaStreamSynchronize(g.stream));
    times.push_back(nanoseconds_since(start) / launches / nodes);
  }
  return median(times);
}

// The least any tracer through CUPTI can do: kernel records into buffers, thrown away. The floor
// for the launch figures.
namespace floor_tracer {
std::atomic<long> records{0};
decltype(&cuptiActivityGetNextRecord) next_record;
void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 4 << 20;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
}
void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                       std::size_t used) {
  CUpti_Activity* record = nullptr;
  while (next_record(buffer, used, &record) == CUPTI_SUCCESS) ++records;
  std::free(buffer);
}
void* library() {
  void* const lib = dlopen("libcupti.so.13", RTLD_NOW);
  if (lib == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(3);
  }
  return lib;
}
void start() {
  void* const lib = library();
  next_record = reinterpret_cast<decltype(next_record)>(dlsym(lib, "cuptiActivityGetNextRecord"));
  reinterpret_cast<decltype(&cuptiActivityRegisterCallbacks)>(
      dlsym(lib, "cuptiActivityRegisterCallbacks"))(request, complete);
  reinterpret_cast<decltype(&cuptiActivityEnable)>(dlsym(lib, "cuptiActivityEnable"))(
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}
void leave() {
  void* const lib = library();
  reinterpret_cast<decltype(&cuptiActivityDisable)>(dlsym(lib, "cuptiActivityDisable"))(
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  reinterpret_cast<decltype(&cuptiActivityFlushAll)>(dlsym(lib, "cuptiActivityFlushAll"))(1);
  reinterpret_cast<decltype(&cuptiFinalize)>(dlsym(lib, "cuptiFinalize"))();
}
}  // namespace floor_tracer

int launch_loop(std::vector<std::string> const& words) {
  if (words.size() > 3 && words[3] == "floor") floor_tracer::start();
  CUDA_OK(cudaFree(nullptr));
  ns_per_launch(2000, 1);
  print("ns_per_launch", ns_per_launch(argument(words, 1, 20000), argument(words, 2, 7)));
  return 0;
}

int graph_loop(std::vector<std::string> const& words) {
  if (words.size() > 3 && words[3] == "floor") floor_tracer::start();
  print("ns_per_node", ns_per_node(argument(words, 1, 100), argument(words, 2, 500), 7));
  return 0;
}

/// As many kernels a second as two streams of graphs can run.
int graphs_for(std::vector<std::string> const& words) {
  int const nodes = 200, at_once = 50;
  graph_of_empty_kernels const graphs[] = {graph_of_empty_kernels(nodes),
                                           graph_of_empty_kernels(nodes)};
  auto const begin = steady::now();
  auto const until = begin + std::chrono::seconds(argument(words, 1, 5));
  long launches = 0;
  while (steady::now() < until) {
    for (int i = 0; i < at_once; ++i, launches += 2)
      for (auto const& g : graphs) CUDA_OK(cudaGraphLaunch(g.exec, g.stream));
    for (auto const& g : graphs) CUDA_OK(cudaStreamSynchronize(g.stream));
  }
  auto const kernels = double(launches) * nodes;
  print("kernels", kernels);
  print("kernels_per_second", kernels / nanoseconds_since(begin) * 1e9);
  return 0;
}

/// What a launch takes, moment by moment: "HH:MM:SS.mmm ns" for each 20 ms.
int pace(std::vector<std::string> const& words) {
  float* x = nullptr;
  CUDA_OK(cudaMalloc(&x, 1 << 20));
  auto const until = steady::now() + std::chrono::seconds(argument(words, 1, 10));
  while (steady::now() < until) {
    auto const begin = steady::now();
    auto const wall = std::chrono::system_clock::now().time_since_epoch();
    long launches = 0;
    for (; nanoseconds_since(begin) < 20e6; launches += 400) {
      for (int i = 0; i < 100; ++i) {
        add_one<<<4, 128>>>(x, 512);
        add_one<<<8, 128>>>(x, 1024);
        add_one<<<16, 128>>>(x, 2048);
        empty<<<1, 32>>>();
      }
      CUDA_OK(cudaDeviceSynchronize());
    }
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(wall).count();
    std::printf("%02d:%02d:%02d.%03d %.0f\n", int(ms / 3600000 % 24), int(ms / 60000 % 60),
                int(ms / 1000 % 60), int(ms % 1000), nanoseconds_since(begin) / launches);
  }
  return 0;
}

/// Bare, under cudaProfilerStart, and after cudaProfilerStop, in one process.
int profiler_range(std::vector<std::string> const& words) {
  int const count = argument(words, 1, 20000);
  CUDA_OK(cudaFree(nullptr));
  ns_per_launch(2000, 1);
  print("ns_before", ns_per_launch(count, 5));
  int const captures = argument(words, 2, 1);
  bool const floor = words.size() > 3 && words[3] == "floor";  // what CUPTI leaves behind by itself
  for (int i = 0; i < captures; ++i) {
    if (floor) floor_tracer::start();
    CUDA_OK(cudaProfilerStart());
    print("ns_during", ns_per_launch(count, 5));
    CUDA_OK(cudaProfilerStop());
    if (floor) floor_tracer::leave();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ns_per_launch(1000, 1);
  }
  print("ns_after", ns_per_launch(count, 5));
  return 0;
}

int nvtx_loop(std::vector<std::string> const& words) {
  CUDA_OK(cudaFree(nullptr));
  empty<<<1, 32>>>();
  CUDA_OK(cudaDeviceSynchronize());
  int const count = argument(words, 1, 5000);
  std::vector<double> times;
  for (int r = 0; r < 50; ++r) {
    auto const start = steady::now();
    for (int i = 0; i < count; ++i) {
      nvtxRangePushA("inner loop");
      nvtxRangePop();
    }
    times.push_back(nanoseconds_since(start) / count);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  print("ns_per_push_pop", median(times));
  return 0;
}

int copies(std::vector<std::string> const&) {
  std::size_t const bytes = 8 << 20;
  void *device = nullptr, *other = nullptr, *pinned = nullptr;
  CUDA_OK(cudaMalloc(&device, bytes));
  CUDA_OK(cudaMalloc(&other, bytes));
  CUDA_OK(cudaMallocHost(&pinned, bytes));
  std::vector<char> pageable(bytes, 1);
  cudaStream_t streams[4];
  for (auto& s : streams) CUDA_OK(cudaStreamCreate(&s));
  for (int i = 0; i < 10; ++i) {
    CUDA_OK(cudaMemcpy(device, pageable.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, streams[0]));
    CUDA_OK(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice, streams[1]));
    CUDA_OK(cudaMemcpyAsync(pinned, other, bytes, cudaMemcpyDeviceToHost, streams[2]));
    CUDA_OK(cudaMemsetAsync(other, 3, bytes, streams[3]));
    add_one<<<128, 256, 0, streams[i % 4]>>>(static_cast<float*>(device), 128 * 256);
  }
  CUDA_OK(cudaDeviceSynchronize());
  print("copies", 40);
  print("copied_bytes", 40.0 * bytes);
  print("memsets", 10);
  print("kernels", 10);
  return 0;
}

int threads(std::vector<std::string> const& words) {
  int const count = argument(words, 1, 8), launches = argument(words, 2, 2000);
  CUDA_OK(cudaFree(nullptr));
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t) {
    all.emplace_back([=] {
      cudaStream_t stream;
      CUDA_OK(cudaStreamCreate(&stream));
      auto const name = "worker " + std::to_string(t);
      nvtxRangePushA(name.c_str());
      for (int i = 0; i < launches; ++i) {
        nvtxRangePushA(i % 2 == 0 ? "even" : "odd");
        empty<<<1, 32, 0, stream>>>();
        nvtxRangePop();
      }
      CUDA_OK(cudaStreamSynchronize(stream));
      nvtxRangePop();
    });
  }
  for (auto& t : all) t.join();
  print("kernels", double(count) * launches);
  return 0;
}

/// Every way a launch can come about that must not be counted wrong.
int launches_of_all_kinds(std::vector<std::string> const&) {
  float* x = nullptr;
  CUDA_OK(cudaMalloc(&x, 1 << 20));
  int kernels = 0;
  for (int i = 0; i < 100; ++i, kernels += 3) {
    shaped<1><<<1, 32>>>(x);
    shaped<2><<<2, 64>>>(x);
    shaped<3><<<dim3(1, 2, 3), dim3(4, 4, 2), 1024>>>(x);
  }
  for (int i = 0; i < 20; ++i, ++kernels) {  // clusters, through cuLaunchKernelEx
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(8);
    config.blockDim = dim3(64);
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA_OK(cudaLaunchKernelEx(&config, shaped<4>, x));
  }
  for (int i = 0; i < 20; ++i, ++kernels) {  // cooperative
    void* arguments[] = {&x};
    CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(&shaped<5>), dim3(4), dim3(64),
                                        arguments, 0, nullptr));
  }
  for (int i = 0; i < 20; ++i) {  // refused by the driver: no kernel
    empty<<<1, 4096>>>();
    cudaGetLastError();
  }
  graph_of_empty_kernels const g(50);  // 50 launches into a graph: no kernels of their own
  for (int i = 0; i < 10; ++i) CUDA_OK(cudaGraphLaunch(g.exec, g.stream));
  CUDA_OK(cudaDeviceSynchronize());
  print("kernels", kernels + 500);
  print("plain_launches", kernels);
  print("graph_launches", 10);
  return 0;
}

int ending(std::vector<std::string> const& words) {
  std::string const how = words.size() > 1 ? words[1] : "exit";
  for (int i = 0; i < 1000; ++i) empty<<<1, 32>>>();
  CUDA_OK(cudaDeviceSynchronize());
  print("kernels", 1000);
  if (how == "_exit" || how == "kill") std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  if (how == "_exit") _exit(7);
  if (how == "kill") std::raise(SIGKILL);
  if (how == "throw") throw 42;
  if (how == "abort") std::abort();
  if (how == "reset") CUDA_OK(cudaDeviceReset());
  if (how == "in-flight") spin<<<1, 1>>>(40'000'000'000LL);
  if (how == "fork") {
    pid_t const child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
  }
  if (how == "exec") execlp("true", "true", nullptr);
  return 0;
}

int long_loop(std::vector<std::string> const& words) {
  CUDA_OK(cudaFree(nullptr));
  auto const until = steady::now() + std::chrono::seconds(argument(words, 1, 10));
  long launches = 0;
  while (steady::now() < until) {
    for (int i = 0; i < 10000; ++i) empty<<<1, 32>>>();
    launches += 10000;
  }
  CUDA_OK(cudaDeviceSynchronize());
  std::size_t free_bytes = 0, total = 0;
  CUDA_OK(cudaMemGetInfo(&free_bytes, &total));
  print("launches", double(launches));
  print("device_mib_used", double(total - free_bytes) / (1 << 20));
  return 0;
}

int peer_copies(std::vector<std::string> const&) {
  int count = 0;
  CUDA_OK(cudaGetDeviceCount(&count));
  if (count < 2) {
    print("skipped", 1);
    return 0;
  }
  std::size_t const bytes = 16 << 20;
  void *a = nullptr, *b = nullptr;
  CUDA_OK(cudaSetDevice(0));
  CUDA_OK(cudaMalloc(&a, bytes));
  cudaDeviceEnablePeerAccess(1, 0);
  CUDA_OK(cudaSetDevice(1));
  CUDA_OK(cudaMalloc(&b, bytes));
  for (int i = 0; i < 10; ++i) CUDA_OK(cudaMemcpyPeerAsync(b, 1, a, 0, bytes));
  for (int d = 0; d < 2; ++d) {
    CUDA_OK(cudaSetDevice(d));
    for (int i = 0; i < 100; ++i) empty<<<1, 32>>>();
    CUDA_OK(cudaDeviceSynchronize());
  }
  print("peer_copies", 10);
  print("kernels", 200);
  return 0;
}

}  // namespace

int main(int count, char** values) {
  std::vector<std::string> words(values + 1, values + count);
  std::map<std::string, std::function<int(std::vector<std::string> const&)>> const all = {
      {"launch-loop", launch_loop},
      {"graph-loop", graph_loop},
      {"graphs-for", graphs_for},
      {"pace", pace},
      {"profiler-range", profiler_range},
      {"nvtx-loop", nvtx_loop},
      {"copies", copies},
      {"threads", threads},
      {"all-launches", launches_of_all_kinds},
      {"ending", ending},
      {"long-loop", long_loop},
      {"peer-copies", peer_copies},
      {"counted", counted_work},
      {"mixed", mixed_work}};
  if (words.empty() || all.count(words[0]) == 0) {
    std::fprintf(stderr, "which workload? one of:");
    for (auto const& [name, run] : all) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  return all.at(words[0])(words);
}

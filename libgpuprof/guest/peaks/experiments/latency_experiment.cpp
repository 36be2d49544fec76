// SPDX-License-Identifier: Apache-2.0
// The tests of launch cost, on the host and from kernel to kernel.
#include "guest/peaks/experiments/experiment.hpp"
#include "guest/peaks/experiments/throughput.hpp"

#include <atomic>
#include <chrono>
#include <vector>

namespace gpuprof::guest::peaks {
namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point begin) {
  return std::chrono::duration<double>(steady::now() - begin).count();
}

/// Returns the median of the medians of five groups, because single outliers come from the system,
/// not from the GPU.
template <class Once>
peak_figure median_figure(lab& in, unsigned in_group, Once const& once) {
  std::vector<double> medians;
  for (int group = 0; group < 5; ++group) {
    std::vector<double> times;
    for (unsigned i = 0; i < in_group; ++i) times.push_back(once());
    medians.push_back(median_of(std::move(times)));
  }
  peak_figure figure;
  figure.value = median_of(medians);
  figure.spread = spread_of(medians);
  figure.samples = 5 * in_group;
  figure.chip = in.read_chip();
  return figure;
}

kernel_launch one_thread(lab& in, std::string_view kernel) {
  kernel_launch launch;
  launch.function = in.bench.find_kernel("latency", kernel);
  launch.blocks = launch.threads = 1;
  return launch;
}

/// Measures the time until the host sees a word that the kernel writes to host memory.
class first_write_experiment final : public experiment {
 public:
  explicit first_write_experiment(lab& in) : in_(in) {}

  void measure(peak_result& into) override {
    into.method = "cuLaunchKernel until a word of pinned memory changes";
    auto const word = in_.bench.allocate_pinned(4096);
    auto launch = one_thread(in_, "tell_host");
    launch.arguments.output = word.on_gpu();
    auto const* const seen = static_cast<std::uint32_t volatile*>(word.on_host());
    into.burst = median_figure(in_, 60, [&] {
      ++launch.arguments.seed;
      auto const begin = steady::now();
      in_.bench.launch(launch);
      while (*seen != launch.arguments.seed) {
        if (seconds_since(begin) > 1)
          throw no_figure(peak_outcome::failed, "the kernel did not answer within a second");
      }
      auto const taken = seconds_since(begin);
      in_.bench.wait();
      return taken;
    });
  }

 private:
  lab& in_;
};

class throughput_experiment final : public experiment {
 public:
  explicit throughput_experiment(lab& in) : in_(in) {}

  void measure(peak_result& into) override {
    constexpr unsigned launches = 500;  // fewer than fit into the queue
    into.method = "cuLaunchKernel of an empty kernel, 500 in a row, on the host";
    auto const launch = one_thread(in_, "nothing");
    into.burst = median_figure(in_, 4, [&] {
      auto const begin = steady::now();
      for (unsigned i = 0; i < launches; ++i) in_.bench.launch(launch);
      auto const taken = seconds_since(begin) / launches;
      in_.bench.wait();
      return taken;
    });
  }

 private:
  lab& in_;
};

class round_trip_experiment final : public experiment {
 public:
  explicit round_trip_experiment(lab& in) : in_(in) {}

  void measure(peak_result& into) override {
    into.method = "cuLaunchKernel of an empty kernel and cuStreamSynchronize";
    auto const launch = one_thread(in_, "nothing");
    into.burst = median_figure(in_, 60, [&] {
      auto const begin = steady::now();
      in_.bench.launch(launch);
      in_.bench.wait();
      return seconds_since(begin);
    });
  }

 private:
  lab& in_;
};

/// A graph of empty kernels in a chain.
class chain_of_kernels {
 public:
  chain_of_kernels(workbench const& bench, kernel_launch launch, unsigned nodes) : bench_(bench) {
    auto& cuda = bench_.cuda();
    CUgraph graph = nullptr;
    bench_.expect(cuda.cuGraphCreate(&graph, 0), "cuGraphCreate");
    void* parameters[] = {&launch.arguments};
    CUDA_KERNEL_NODE_PARAMS node{};
    node.func = launch.function;
    node.gridDimX = node.gridDimY = node.gridDimZ = 1;
    node.blockDimX = node.blockDimY = node.blockDimZ = 1;
    node.kernelParams = parameters;
    CUgraphNode before = nullptr;
    auto code = CUDA_SUCCESS;
    for (unsigned i = 0; i < nodes && code == CUDA_SUCCESS; ++i) {
      CUgraphNode added = nullptr;
      code = cuda.cuGraphAddKernelNode_v2(&added, graph, i == 0 ? nullptr : &before, i == 0 ? 0 : 1,
                                          &node);
      before = added;
    }
    if (code == CUDA_SUCCESS) code = cuda.cuGraphInstantiateWithFlags(&executable_, graph, 0);
    cuda.cuGraphDestroy(graph);
    bench_.expect(code, "making a graph");
  }
  ~chain_of_kernels() { bench_.cuda().cuGraphExecDestroy(executable_); }
  chain_of_kernels(chain_of_kernels const&) = delete;
  chain_of_kernels& operator=(chain_of_kernels const&) = delete;

  double run_seconds() const {
    auto const begin = steady::now();
    bench_.expect(bench_.cuda().cuGraphLaunch(executable_, bench_.stream()), "cuGraphLaunch");
    bench_.wait();
    return seconds_since(begin);
  }

 private:
  workbench const& bench_;
  CUgraphExec executable_ = nullptr;
};

/// Subtracts the times of two lengths, so that the constant cost of a launch cancels out.
class graph_experiment final : public experiment {
 public:
  explicit graph_experiment(lab& in) : in_(in) {}

  void measure(peak_result& into) override {
    constexpr unsigned few = 200, many = 1000;
    into.method = "graphs of 200 and 1000 empty kernels in a chain, by difference";
    auto const launch = one_thread(in_, "nothing");
    chain_of_kernels const shorter(in_.bench, launch, few), longer(in_.bench, launch, many);
    shorter.run_seconds();
    longer.run_seconds();
    into.burst = median_figure(in_, 4, [&] {
      auto const less = shorter.run_seconds();
      return (longer.run_seconds() - less) / (many - few);
    });
    if (into.burst.value <= 0)
      throw no_figure(peak_outcome::failed, "its times vary too much to tell that of a node");
  }

 private:
  lab& in_;
};

}  // namespace

std::unique_ptr<experiment> make_latency_experiment(test_id test, lab& in) {
  if (in.bench.find_kernel("latency", "nothing") == nullptr) return nullptr;
  switch (test) {
    case test_id::launch_latency:
      return std::make_unique<first_write_experiment>(in);
    case test_id::launch_throughput:
      return std::make_unique<throughput_experiment>(in);
    case test_id::graph_node:
      return std::make_unique<graph_experiment>(in);
    case test_id::synchronize:
      return std::make_unique<round_trip_experiment>(in);
    default:
      return nullptr;
  }
}

}  // namespace gpuprof::guest::peaks

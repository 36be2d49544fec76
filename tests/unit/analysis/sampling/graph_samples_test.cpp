// SPDX-License-Identifier: Apache-2.0
// How well samples tell the kernels of a CUDA graph apart, which are shorter than samples and
// always run in the same order.
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <cmath>
#include <iostream>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

struct graph_node {
  double us = 0, gap_us = 0;  // how long it runs, and nothing after it
  work_load load;
};

/// Kernels of 1.5 to 4.5 us; every third uses the tensor cores.
std::vector<graph_node> some_graph(simulated_gpu& gpu, int nodes) {
  std::vector<graph_node> graph;
  for (int i = 0; i < nodes; ++i) {
    auto const us = gpu.uniform(1.5, 4.5);
    work_load const load{us * gpu.uniform(0.1, 3) * 1e6, gpu.uniform(10, 90),
                         i % 3 == 0 ? us * gpu.uniform(300, 1350) : 0};
    graph.push_back({us, gpu.uniform(0.3, 1), load});
  }
  return graph;
}

struct accuracy {
  std::size_t all = 0, near = 0, inside_two = 0;  // of the truth within 5 %, within two errors
  double share_of(std::size_t n) const { return static_cast<double>(n) / static_cast<double>(all); }
  void add(workload_figure const& figure, double truth) {
    auto const off = std::abs(figure.mean - truth);
    ++all;
    near += off <= 0.05 * truth;
    inside_two += off <= 2 * figure.error;
  }
};

std::ostream& operator<<(std::ostream& out, accuracy const& of) {
  return out << of.all << " kernels, within 5 %: " << of.share_of(of.near)
             << ", within two errors: " << of.share_of(of.inside_two);
}

struct graph_accuracy {
  accuracy bytes, tensor_cycles;
};

/// 5000 launches of a graph of 146 kernels, at most `pause_us` after each other.
graph_accuracy sampled_graph(unsigned seed, double pause_us, double jitter_us,
                             bool work_late = false) {
  constexpr int nodes = 146, launches = 5000;
  simulated_gpu gpu(seed);
  gpu.with_jitter(jitter_us).with_variation(0.01).with_idle_rate(20);
  if (work_late) gpu.working_only(0.45, 0.9);
  auto const graph = some_graph(gpu, nodes);
  for (int launch = 0; launch < launches; ++launch) {
    for (int i = 0; i < nodes; ++i) {
      auto const& node = graph[static_cast<std::size_t>(i)];
      gpu.run(numbered("k", i), node.us * gpu.uniform(0.97, 1.03), node.load).wait(node.gap_us);
    }
    gpu.wait(gpu.uniform(2, 2 + pause_us));
  }
  auto c = gpu.sampled();
  for (auto& kernel : c.t.kernels) kernel.graph = static_cast<graph_id>(3);
  analyzed const a(c);
  graph_accuracy found;
  for (int i = 0; i < nodes; ++i) {
    auto const& load = graph[static_cast<std::size_t>(i)].load;
    if (auto const bytes = figure_of(a, numbered("k", i), dram_read_metric))
      found.bytes.add(*bytes, load.bytes);
    if (auto const cycles = figure_of(a, numbered("k", i), tensor_cycles_metric);
        cycles && load.tensor_cycles > 0)
      found.tensor_cycles.add(*cycles, load.tensor_cycles);
  }
  std::cout << "graph, pauses up to " << pause_us << " us, DRAM bytes: " << found.bytes
            << "; tensor cycles: " << found.tensor_cycles << '\n';
  return found;
}

void check(graph_accuracy const& found) {
  CHECK(found.bytes.all >= 140);
  CHECK(found.tensor_cycles.all >= 46);
  // The rest read little beside neighbors that read thirty times as much.
  CHECK(found.bytes.share_of(found.bytes.near) > 0.95);
  CHECK(found.bytes.share_of(found.bytes.inside_two) > 0.94);
  CHECK(found.tensor_cycles.near == found.tensor_cycles.all);
  CHECK(found.tensor_cycles.share_of(found.tensor_cycles.inside_two) > 0.94);
}

}  // namespace

namespace {

/// Seven blocks of a network, whose kernels follow each other at once, 700 times.
counted_trace blocks(simulated_gpu&& gpu) {
  gpu.with_jitter(0.05).with_variation(0.01).with_idle_rate(20);
  for (int i = 0; i < 7 * 700; ++i) {
    gpu.run("norm", 2.5, {1e4, 20, 0}).wait(0.3);
    gpu.run("up", 5.6, {2e6, 14, 2000}).wait(0.3);
    gpu.run("gelu", 1.3, {2e4, 6, 0}).wait(0.3);
    gpu.run("down", 3.8, {2.1e6, 13, 250}).wait(0.3);
    if (i % 7 == 6) gpu.wait(gpu.uniform(0, 2));
  }
  return gpu.sampled();
}

}  // namespace

TEST_CASE("kernels active for only part of their time give no counts to their neighbors") {
  for (auto const& [from, to] : {std::pair{0.45, 0.9}, {0.05, 0.5}, {0., 1.}}) {
    auto const c = blocks(std::move(simulated_gpu(11).working_only(from, to)));
    analyzed const a(c);
    for (auto const& [name, bytes, cycles] :
         {std::tuple{"up", 2e6, 2000.}, {"down", 2.1e6, 250.}}) {
      INFO(name << " that works from " << from << " to " << to);
      auto const read = figure_of(a, name, dram_read_metric);
      auto const tensor = figure_of(a, name, tensor_cycles_metric);
      REQUIRE(read);
      REQUIRE(tensor);
      CHECK(read->mean == Approx(bytes).epsilon(0.03));
      CHECK(tensor->mean == Approx(cycles).epsilon(0.03));
    }
  }
}

TEST_CASE("kernels without tensor instructions get no tensor cycles of their neighbors") {
  auto c = blocks(std::move(simulated_gpu(12).with_early_records(0.4)));
  auto const cycles = [&c](char const* name) {
    analyzed const a(c);
    auto const found = figure_of(a, name, tensor_cycles_metric);
    REQUIRE(found);
    return found->mean;
  };
  CHECK(cycles("norm") > 10);
  CHECK(cycles("down") < 0.95 * 250);
  for (auto const& shape : c.t.shapes) {
    auto const name = c.t.names.text(shape.name);
    kernel_code code;
    code.is_complete = true;
    if (name == "up" || name == "down") code.holds.insert(instruction_class::wgmma_bf16);
    c.codes.push_back(record_of(shape.name, code));
  }
  CHECK(cycles("norm") == 0);
  CHECK(cycles("gelu") == 0);
  CHECK(cycles("up") == Approx(2000).epsilon(0.03));
  CHECK(cycles("down") == Approx(250).epsilon(0.05));
}

TEST_CASE("kernels of a graph with pauses between its launches are separated", "[many trials]") {
  check(sampled_graph(3, 10, 0.1));
}

TEST_CASE("kernels of a graph with consecutive launches are separated", "[many trials]") {
  check(sampled_graph(4, 0.2, 0.1));
}

TEST_CASE("kernels of a graph that work for part of their time are separated", "[many trials]") {
  for (auto const pause_us : {10., 0.2}) {
    auto const found = sampled_graph(4, pause_us, 0.1, true);
    CHECK(found.bytes.all >= 130);
    CHECK(found.bytes.share_of(found.bytes.near) > 0.85);
    CHECK(found.bytes.share_of(found.bytes.inside_two) > 0.93);
    CHECK(found.tensor_cycles.near == found.tensor_cycles.all);
    CHECK(found.tensor_cycles.share_of(found.tensor_cycles.inside_two) > 0.93);
  }
}

TEST_CASE("records with exact times are not treated as noisier than they are", "[many trials]") {
  check(sampled_graph(5, 0.2, 0.01));
}

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/stack_workloads.hpp"

#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

constexpr auto stack(std::uint32_t id) {
  return static_cast<stack_id>(id);
}

/// Counts the kernels of a trace, the n-th of which has the n-th of these stacks.
struct counted_stacks {
  launch_metrics metrics;
  workload_times times{metrics};
  stack_workloads work;
  trace t;

  counted_stacks(std::vector<event> events, std::vector<std::uint32_t> const& stacks)
      : t(trace_of(std::move(events))) {
    for (std::size_t i = 0; i < t.kernels.size(); ++i) {
      t.kernels[i].stack = stack(stacks.at(i));
      work.add(t.kernels[i], t.kernels[i].stack, times.add(t.kernels[i]));
    }
    work.finish(metrics, times);
  }
  /// By name of the kernel: launches and ns.
  std::map<std::string, std::pair<double, double>> launched_by(
      std::vector<stack_id> const& of, std::vector<thread_index> const& threads = {}) const {
    std::map<std::string, std::pair<double, double>> found;
    for (auto const& part : work.launched_by(of, threads)) {
      auto const& shape = t.shapes[raw(times.id(part.workload).shape) - 1];
      found[std::string(t.names.text(shape.name))] = {part.launches, part.ns};
    }
    return found;
  }
};

using launches = std::map<std::string, std::pair<double, double>>;

}  // namespace

TEST_CASE("workloads of several stacks add up, each once") {
  counted_stacks const c({kernel("a", 0_us, 10_us), kernel("b", 20_us, 50_us),
                          kernel("a", 60_us, 70_us), kernel("a", 80_us, 90_us)},
                         {1, 1, 2, 3});
  CHECK(c.launched_by({stack(1)}) == launches{{"a", {1, 10e3}}, {"b", {1, 30e3}}});
  CHECK(c.launched_by({stack(1), stack(2)}) == launches{{"a", {2, 20e3}}, {"b", {1, 30e3}}});
  CHECK(c.launched_by({stack(4)}).empty());
}

TEST_CASE("launches without a stack are spread over the stacks that launched the same kernel") {
  counted_stacks const c(
      {kernel("a", 0_us, 10_us), kernel("a", 20_us, 30_us), kernel("a", 40_us, 50_us),
       kernel("a", 60_us, 70_us), kernel("b", 80_us, 90_us)},
      {1, 1, 2, 0, 3});
  CHECK(c.launched_by({stack(1)})["a"].first == Approx(2 + 2. / 3));
  CHECK(c.launched_by({stack(2)})["a"].first == Approx(1 + 1. / 3));
  CHECK(c.launched_by({stack(2)})["a"].second == Approx(10e3 * (1 + 1. / 3)));
  CHECK(c.launched_by({stack(3)}) == launches{{"b", {1, 10e3}}});
}

TEST_CASE("a kernel that never has a stack is spread over all stacks of its thread") {
  counted_stacks const c(
      {kernel("a", 0_us, 10_us), kernel("b", 20_us, 30_us), kernel("c", 40_us, 50_us)}, {1, 2, 0});
  CHECK(c.launched_by({stack(1)})["c"] == std::pair(0.5, 5e3));
  CHECK(c.launched_by({stack(2)})["c"] == std::pair(0.5, 5e3));
}

TEST_CASE("work of a thread without stacks is that of the thread") {
  counted_stacks const c({kernel("a", 0_us, 10_us), kernel("a", 20_us, 30_us).on_thread(2)},
                         {1, 0});
  CHECK(c.launched_by({stack(1)}) == launches{{"a", {1, 10e3}}});
  CHECK(c.launched_by({}, {static_cast<thread_index>(2)}) == launches{{"a", {1, 10e3}}});
  CHECK(c.launched_by({}, {static_cast<thread_index>(1)}).empty());
}

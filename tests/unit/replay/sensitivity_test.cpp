// SPDX-License-Identifier: Apache-2.0
#include "host/replay/sensitivity.hpp"

#include "made_machine.hpp"
#include "support/catch.hpp"

#include <algorithm>

namespace gpuprof::host::replay {
namespace {

double tenths_of(sensitivities const& found, std::string const& kind) {
  for (auto const& one : found.kinds)
    if (one.name == kind) return one.tenth_ns / found.step_ns * 10;
  return -1;
}

sensitivity const& subject(sensitivities const& found, std::string const& name) {
  return *std::find_if(found.subjects.begin(), found.subjects.end(),
                       [&](auto const& one) { return one.name == name; });
}

TEST_CASE("a program that is bound by the GPU is sensitive to kernels alone") {
  step_graph const graph(record({work(1000), kernel("a", 60'000), kernel("b", 30'000)}, 60));
  auto const found = sensitivities_of(graph, 20);
  CHECK(tenths_of(found, "kernels") == Approx(1).margin(0.05));
  CHECK(tenths_of(found, "CPU work") == Approx(0).margin(0.01));
  CHECK(found.sum_of_kinds() == Approx(1).margin(0.05));
  CHECK(found.subjects.front().name == "a");
  CHECK(subject(found, "a").all_ns == Approx(60'000).epsilon(0.02));
  CHECK(subject(found, "b").tenth_ns == Approx(3000).epsilon(0.02));
  CHECK(subject(found, "a").count == 1);
}

TEST_CASE("a program that is bound by launching is sensitive to CPU work alone") {
  std::vector<act> step;
  for (int i = 0; i < 30; ++i) {
    step.push_back(work(20'000));
    step.push_back(kernel("k", 10'000));
  }
  step_graph const graph(record(step, 60));
  auto const found = sensitivities_of(graph, 20);
  CHECK(tenths_of(found, "kernels") == Approx(0).margin(0.01));
  CHECK(tenths_of(found, "CPU work") == Approx(1).margin(0.05));
  CHECK(subject(found, "step").tenth_ns == Approx(found.step_ns / 10).epsilon(0.05));
}

TEST_CASE("so many subjects are listed as were asked for") {
  std::vector<act> step;
  for (int i = 0; i < 30; ++i) step.push_back(kernel("k" + std::to_string(i), 10'000 + i));
  step_graph const graph(record(step, 20));
  CHECK(sensitivities_of(graph, 5).subjects.size() == 5);
}

}  // namespace
}  // namespace gpuprof::host::replay

// SPDX-License-Identifier: Apache-2.0
// Each repair is foretold from the recording of the fault, and compared with the repaired program.
#include "host/replay/repair.hpp"

#include "made_machine.hpp"
#include "support/catch.hpp"

#include <algorithm>

namespace gpuprof::host::replay {
namespace {

constexpr std::uint32_t steps = 60;

std::vector<act> times(std::size_t count, std::vector<act> const& acts) {
  std::vector<act> all;
  for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), acts.begin(), acts.end());
  return all;
}
std::vector<act> operator+(std::vector<act> a, std::vector<act> const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

name_set only(std::vector<std::string> const& names, std::string const& name) {
  name_set set(names.size());
  std::transform(names.begin(), names.end(), set.begin(),
                 [&](auto const& one) { return one == name; });
  return set;
}

struct faulty_program {
  explicit faulty_program(std::vector<act> const& step)
      : graph(record(step, steps)), names(graph.recorded().work_names) {}

  forecast with(repair_kind kind, std::string const& name, double value = 0) const {
    auto const& recorded = graph.recorded();
    auto const of_calls = kind == repair_kind::drop_calls;
    auto const of_ranges = kind == repair_kind::as_graph || kind == repair_kind::scale_cpu;
    repair const one[] = {{kind,
                           only(of_calls    ? recorded.call_names
                                : of_ranges ? recorded.range_names
                                            : recorded.work_names,
                                name),
                           value, 0}};
    return foretell(graph, one);
  }

  step_graph graph;
  std::vector<std::string> names;
};

void check_truth(forecast const& foretold, std::vector<act> const& repaired) {
  auto const won = foretold.now_ns - true_step_ns(repaired, steps);
  CAPTURE(foretold.now_ns, won, foretold.least_gain_ns(), foretold.greatest_gain_ns());
  CHECK(foretold.least_gain_ns() <= won);
  CHECK(won <= foretold.greatest_gain_ns());
}

TEST_CASE("kernels that go win their time in a program that waits for the GPU") {
  auto const useful = times(20, {work(1000), kernel("useful", 30'000)});
  auto const useless = times(20, {work(1000), kernel("useless", 15'000)});
  faulty_program const program(useful + useless);
  check_truth(program.with(repair_kind::drop, "useless"), useful);
}

TEST_CASE("faster kernels win nothing in a program that is bound by launching") {
  faulty_program const program(times(40, {work(20'000), kernel("k", 10'000)}));
  auto const foretold = program.with(repair_kind::scale, "k", 0.5);
  CHECK(foretold.greatest_gain_ns() < 0.01 * foretold.now_ns);
  CHECK(foretold.then[path_part::cpu_work] > 0.9 * foretold.low_ns);
}

TEST_CASE("kernels that get faster win until the launching thread holds the step") {
  faulty_program const program(times(40, {work(10'000), kernel("k", 30'000)}));
  auto const foretold = program.with(repair_kind::scale, "k", 0.1);
  check_truth(foretold, times(40, {work(10'000), kernel("k", 3000)}));
  CHECK(foretold.now[path_part::kernels] > foretold.now[path_part::cpu_work]);
  CHECK(foretold.then[path_part::kernels] < foretold.then[path_part::cpu_work]);
}

TEST_CASE("a wait that goes lets the thread run ahead") {
  auto const busy = times(10, {work(1000), kernel("k", 30'000)});
  faulty_program const program(busy + std::vector<act>{wait(), work(200'000)});
  check_truth(program.with(repair_kind::drop_calls, "cudaDeviceSynchronize"),
              busy + std::vector<act>{work(200'000)});
}

TEST_CASE("after work that goes, a wait is for the work before it") {
  auto const busy = times(10, {work(1000), kernel("k", 30'000)});
  faulty_program const program(busy + std::vector<act>{kernel("last", 50'000), wait(), work(9000)});
  check_truth(program.with(repair_kind::drop, "last"), busy + std::vector<act>{wait(), work(9000)});
}

TEST_CASE("copies in a stream of their own run beside kernels") {
  std::vector<act> const step{copy("h2d", 300'000, 0), kernel("k", 400'000, 0), work(1000)};
  faulty_program const program(step);
  check_truth(program.with(repair_kind::overlap, "h2d"),
              {copy("h2d", 300'000, 1), kernel("k", 400'000, 0), work(1000)});
}

TEST_CASE("a graph takes the launches from the thread") {
  faulty_program const program(times(50, {work(15'000), kernel("k", 2000)}) +
                               std::vector<act>{wait()});
  auto const foretold = program.with(repair_kind::as_graph, "step");
  // The launch of the graph, its latency, kernels with pauses, and the return from the wait.
  auto const truth_ns = 10'000 + 4000 + 50 * 3000 + 3000;
  CHECK(foretold.low_ns <= truth_ns);
  CHECK(truth_ns <= foretold.high_ns);
  CHECK(foretold.then[path_part::kernels] > foretold.then[path_part::cpu_work]);
  CHECK(foretold.then[path_part::unexplained] == 0);
}

TEST_CASE("pinned copies are faster and hold no thread") {
  std::vector<act> const step{pageable_copy("h2d", 500'000), work(200'000), kernel("k", 50'000)};
  faulty_program const program(step);
  repair const pinned[] = {{repair_kind::pin, {}, 50, 50}};  // 5 MB take 500 us and then 100 us
  check_truth(foretell(program.graph, pinned),
              {copy("h2d", 100'000), work(205'000), kernel("k", 50'000)});
}

TEST_CASE("merged launches take the time of all, and the launches go") {
  auto const rest = std::vector<act>{work(1000), wait()};
  faulty_program const program(times(50, {work(15'000), kernel("k", 2000)}) + rest);
  auto const foretold = program.with(repair_kind::merge, "k");
  CHECK(foretold.low_ns <=
        true_step_ns({work(15'000), kernel("k", 100'000), work(1000), wait()}, steps));
}

TEST_CASE("CPU work in a range goes") {
  faulty_program const program({work(300'000), kernel("k", 50'000)});
  check_truth(program.with(repair_kind::scale_cpu, "step", 0.5),
              {work(149'000), kernel("k", 50'000)});
}

TEST_CASE("without a repair nothing changes") {
  faulty_program const program(times(20, {work(1000), kernel("k", 30'000)}));
  auto const foretold = foretell(program.graph, {});
  CHECK(foretold.low_ns == foretold.now_ns);
  CHECK(foretold.high_ns == foretold.now_ns);
}

}  // namespace
}  // namespace gpuprof::host::replay

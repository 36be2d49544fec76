// SPDX-License-Identifier: Apache-2.0
// Each repair is foretold from the recording of the fault, and compared with the repaired program.
#include "host/replay/repair.hpp"

#include "host/replay/repeated_steps.hpp"
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

TEST_CASE("work that goes takes the calls along that prepare it, if that is asked for") {
  auto const busy = times(10, {work(1000), kernel("k", 30'000)});
  auto const moved = std::vector<act>{wait(), work(2000), kernel("moved", 50'000)};
  faulty_program const program(busy + moved + busy);
  check_truth(program.with(repair_kind::drop, "moved", 1), busy + busy);
  auto const alone = program.with(repair_kind::drop, "moved");
  CHECK(alone.greatest_gain_ns() < alone.now_ns - true_step_ns(busy + busy, steps));
}

TEST_CASE("of the CPU work before a row of launches that go, half stays at least") {
  auto const row = times(40, {work(18'000), kernel("useless", 2'000)});
  faulty_program const program(row + std::vector<act>{work(18'000), kernel("useful", 2'000)});
  auto const foretold = program.with(repair_kind::drop, "useless");
  // A launch takes 2 us of the thread.
  CHECK(foretold.least_gain_ns() == Approx(0.95 * 40 * 10'000).epsilon(0.03));
  CHECK(foretold.greatest_gain_ns() == Approx(1.05 * 40 * 20'000).epsilon(0.03));
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

TEST_CASE("launches that follow each other become a graph, up to the next call") {
  auto const row = times(50, {work(15'000), kernel("k", 2000)});
  faulty_program const program(row + std::vector<act>{wait()} + row + std::vector<act>{wait()});
  repair const one[] = {{.kind = repair_kind::join_launches, .value = 2500}};
  auto const foretold = foretell(program.graph, one);
  // Two graphs: launch, latency, a node each 2,500 ns, and the return from the wait.
  auto const truth_ns = 2 * (10'000 + 4000 + 50 * 2500 + 3000);
  CHECK(foretold.low_ns <= truth_ns);
  CHECK(truth_ns <= foretold.high_ns);
}

TEST_CASE("launches with a call of their own become a graph all the same") {
  auto made = record(times(50, {kernel("k", 2000)}) + std::vector<act>{wait()}, steps);
  made.call_names.push_back("cuLaunchKernel");
  for (auto const& item : made.items)
    made.calls.push_back({.begin_ns = item.launched_ns,
                          .end_ns = item.launched_ns + 2000,
                          .name = 1,
                          .kind = call_kind::launch});
  step_graph const graph(made);
  CHECK(graph.pace().launch_ns == 2000);
  repair const one[] = {{.kind = repair_kind::join_launches, .value = 2500}};
  auto const foretold = foretell(graph, one);
  CHECK(foretold.then[path_part::calls] < 0.05 * foretold.low_ns);
}

TEST_CASE("a pageable copy holds its thread inside of its call") {
  std::vector<act> const step{pageable_copy("d2h", 500'000), work(200'000), kernel("k", 50'000)};
  auto made = record(step, steps);
  made.call_names.push_back("cuMemcpyDtoHAsync_v2");
  for (auto& item : made.items) {
    if (item.kind != work_kind::copy) continue;
    item.to_host = true;
    made.calls.push_back(
        {.begin_ns = item.launched_ns, .end_ns = item.end_ns + 3000, .kind = call_kind::launch});
  }
  step_graph const graph(made);
  repair const pinned[] = {{repair_kind::pin, {}, 50, 50}};
  check_truth(foretell(graph, pinned), {copy("d2h", 100'000), work(205'000), kernel("k", 50'000)});
  repair const one[] = {{.kind = repair_kind::drop, .names = only(made.work_names, "d2h")}};
  check_truth(foretell(graph, one), {work(200'000), kernel("k", 50'000)});
}

TEST_CASE("steps repeat if they launch the same work in the same order") {
  std::vector<act> const usual{kernel("a", 1000), kernel("b", 1000), wait()};
  std::vector<act> const other{kernel("b", 1000), kernel("a", 1000), wait()};
  auto const all = repeated_steps_of(step_graph(record(usual, 20)));
  CHECK(all.share == 1);
  CHECK(all.launches == 2);
  CHECK(all.kernels == std::vector<std::string>{"a", "b"});
  auto const half = repeated_steps_of(step_graph(record_in_turn({usual, other}, 20)));
  CHECK(half.share == 0.5);
}

TEST_CASE("fewer than five launches are no graph") {
  faulty_program const program(times(4, {work(15'000), kernel("k", 2000)}) +
                               std::vector<act>{wait()});
  repair const one[] = {{.kind = repair_kind::join_launches}};
  CHECK(foretell(program.graph, one).greatest_gain_ns() == 0);
}

TEST_CASE("every second launch goes if pairs of kernels are fused") {
  faulty_program const program(times(40, {work(20'000), kernel("k", 3000)}));
  repair const one[] = {{.kind = repair_kind::fuse_pairs, .value = 1}};
  check_truth(foretell(program.graph, one), times(20, {work(20'000), kernel("k", 6000)}));
}

TEST_CASE("work begins sooner after its launch with a shorter latency") {
  std::vector<act> const step{work(1000), kernel("k", 50'000), wait()};
  made_machine const slow{.latency_ns = 20'000}, quick{.latency_ns = 5000};
  step_graph const graph(record(step, steps, slow));
  repair const one[] = {{.kind = repair_kind::latency, .value = 5000}};
  auto const foretold = foretell(graph, one);
  auto const won = foretold.now_ns - true_step_ns(step, steps, quick);
  CHECK(foretold.least_gain_ns() <= won);
  CHECK(won <= foretold.greatest_gain_ns());
}

TEST_CASE("waits return sooner if this machine can do a round trip in less time") {
  std::vector<act> const step{work(1000), kernel("k", 50'000), wait()};
  made_machine const slow{.latency_ns = 4000, .return_ns = 12'000};
  step_graph const graph(record(step, steps, slow));
  step_edit edit(graph);
  edit.set_round_trip(4000 + 5000);
  auto const truth = true_step_ns(step, steps, {.latency_ns = 4000, .return_ns = 5000});
  CHECK(step_ns(edit) == Approx(truth).epsilon(0.01));
}

TEST_CASE("only copies of a size are meant") {
  std::vector<act> const large{work(1000), copy("h2d", 100'000)};
  faulty_program const program(large + times(10, {work(1000), copy("h2d", 2000)}));
  repair small_ones{.kind = repair_kind::drop, .names = only(program.names, "h2d")};
  small_ones.scope.max_bytes = 50'000;
  repair const one[] = {small_ones};
  check_truth(foretell(program.graph, one), large);
}

TEST_CASE("a repair in another range changes nothing") {
  auto made = record({work(1000), kernel("k", 50'000), wait(), work(50'000)}, steps);
  made.range_names.push_back("other");
  step_graph const graph(made);
  repair wait_goes{.kind = repair_kind::drop_calls, .names = {true}};
  wait_goes.scope.ranges = {false, true};
  repair const elsewhere[] = {wait_goes};
  CHECK(foretell(graph, elsewhere).greatest_gain_ns() == 0);
  wait_goes.scope.ranges = {true, false};
  repair const here[] = {wait_goes};
  CHECK(foretell(graph, here).greatest_gain_ns() > 10'000);
}

TEST_CASE("calls get shorter by at most the time that is stated") {
  std::vector<act> const step{work(1000), kernel("k", 5000), wait(), work(20'000)};
  faulty_program const program(step);
  repair shorter{.kind = repair_kind::drop_calls, .names = {true}};
  shorter.value = 1;  // of its own time: what it waits for stays
  repair const one[] = {shorter};
  CHECK(foretell(program.graph, one).greatest_gain_ns() < 3000);
}

TEST_CASE("without a repair nothing changes") {
  faulty_program const program(times(20, {work(1000), kernel("k", 30'000)}));
  auto const foretold = foretell(program.graph, {});
  CHECK(foretold.low_ns == foretold.now_ns);
  CHECK(foretold.high_ns == foretold.now_ns);
}

}  // namespace
}  // namespace gpuprof::host::replay

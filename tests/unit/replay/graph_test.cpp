// SPDX-License-Identifier: Apache-2.0
#include "host/replay/critical_path.hpp"
#include "host/replay/replay.hpp"
#include "made_machine.hpp"
#include "support/catch.hpp"

namespace gpuprof::host::replay {
namespace {

std::vector<act> kernels(std::size_t count, std::int64_t ns, std::int64_t work_ns) {
  std::vector<act> acts;
  for (std::size_t i = 0; i < count; ++i) {
    acts.push_back(work(work_ns));
    acts.push_back(kernel("k", ns));
  }
  return acts;
}

double replayed_ns(step_graph const& graph) {
  return step_ns(step_edit(graph));
}

TEST_CASE("a replay without a change is as long as the recording") {
  auto const launch_bound = kernels(50, 2000, 8000);
  auto gpu_bound = kernels(50, 90'000, 1000);
  auto waiting = kernels(20, 30'000, 1000);
  waiting.push_back(wait());
  waiting.push_back(work(100'000));
  std::vector<act> const streams{kernel("a", 50'000, 0), event(0),   wait_for_event(1),
                                 kernel("b", 20'000, 1), event(1),   wait_for_event(0),
                                 kernel("c", 30'000, 0), work(5000), wait()};
  std::vector<act> const copying{pageable_copy("h2d", 400'000), kernel("a", 90'000), work(20'000)};
  for (auto const& step : {launch_bound, gpu_bound, waiting, streams, copying}) {
    step_graph const graph(record(step, 60));
    CHECK(static_cast<double>(graph.recorded_ns()) / 60 == Approx(true_step_ns(step, 60)));
    CHECK(replayed_ns(graph) == Approx(true_step_ns(step, 60)).epsilon(0.01));
  }
}

TEST_CASE("a graph holds with CPU times that it was not made from") {
  std::vector<act> slow = kernels(20, 30'000, 3000), fast = kernels(20, 30'000, 1000);
  for (auto* const acts : {&slow, &fast}) {
    acts->push_back(wait());
    acts->push_back(work(acts == &slow ? 400'000 : 100'000));
  }
  step_graph const graph(record_in_turn({slow, fast}, 40));
  step_edit edit(graph);
  CHECK(edit.repeat_cpu_of_steps() >= 0.9);  // all but the first and last pair
  CHECK(step_ns(edit) == Approx(true_step_ns(slow, 40)).epsilon(0.01));
}

TEST_CASE("the critical path is as long as the steps") {
  auto step = kernels(20, 30'000, 1000);
  step.push_back(wait());
  step.push_back(work(100'000));
  step_graph const graph(record(step, 60));
  step_edit const unchanged(graph);
  auto const path = path_of(unchanged, replay(unchanged));
  CHECK(path.total_ns() == Approx(replayed_ns(graph)));
  CHECK(path[path_part::kernels] == Approx(20 * 30'000).epsilon(0.05));
  CHECK(path[path_part::cpu_work] == Approx(101'000).epsilon(0.05));
  CHECK(path[path_part::unexplained] == 0);
}

TEST_CASE("latency and pause come from work that waited for nothing else") {
  made_machine const machine{.latency_ns = 6000, .pause_ns = 1500};
  auto step = kernels(30, 20'000, 1000);
  step.push_back(wait());
  step_graph const graph(record(step, 40, machine));
  CHECK(graph.pace().latency_ns == 6000);
  CHECK(graph.pace().pause_ns == 1500);
}

TEST_CASE("launches that waited for a full queue have the CPU time of others") {
  step_graph const graph(record(kernels(100, 50'000, 1000), 40));
  CHECK(graph.pace().queue >= 1000);
  std::int64_t work_ns = 0;
  for (auto const& point : graph.points()) work_ns += point.work_ns;
  CHECK(work_ns < 100 * 40 * 4000);  // the GPU needs 50 us for each
}

TEST_CASE("an item that begins after another stream's item is inferred to wait for it") {
  std::vector<act> const step{kernel("a", 80'000, 0), event(0), wait_for_event(1),
                              kernel("b", 20'000, 1), wait()};
  step_graph const graph(record(step, 40));
  std::size_t events = 0;
  for (std::size_t i = 0; i < graph.edges().size(); ++i)
    if (graph.items()[i].stream == 1) events += graph.edges()[i].reason == start_reason::event;
  CHECK(events == 40);
  step_edit const unchanged(graph);
  CHECK(path_of(unchanged, replay(unchanged)).inferred_ns > 60'000);
}

TEST_CASE("a delay that nothing explains is told") {
  auto recorded = record(kernels(10, 5000, 30'000), 40);
  for (std::size_t i = 5; i < recorded.items.size(); i += 10) {
    recorded.items[i].start_ns += 12'000;
    recorded.items[i].end_ns += 12'000;
  }
  step_graph const graph(std::move(recorded));
  std::size_t unexplained = 0;
  for (auto const& edge : graph.edges()) unexplained += edge.reason == start_reason::unexplained;
  CHECK(unexplained == 40);
}

TEST_CASE("autograd's thread shares the lane of the thread that waits for it") {
  auto recorded = record(kernels(10, 5000, 10'000), 40);
  for (std::size_t i = 0; i < recorded.items.size(); ++i)
    if (i % 10 >= 5) recorded.items[i].thread = 7;
  step_graph const graph(recorded);
  CHECK(graph.lanes().lanes == 1);
  CHECK(graph.lanes().shared == 1);
}

TEST_CASE("a thread that launches at the same time has a lane of its own") {
  auto recorded = record(kernels(10, 5000, 10'000), 40);
  for (std::size_t i = 0; i < recorded.items.size(); ++i)
    if (i % 2 == 1) recorded.items[i].thread = 7;
  step_graph const graph(recorded);
  CHECK(graph.lanes().lanes == 2);
  CHECK(replayed_ns(graph) == Approx(static_cast<double>(graph.recorded_ns()) / 40).epsilon(0.01));
}

TEST_CASE("work that was launched before the first step belongs to none") {
  auto recorded = record(kernels(10, 50'000, 1000), 40);
  auto const second = recorded.ranges[1].begin_ns;
  for (auto& item : recorded.items) {
    item.launched_ns -= second;
    item.is_from_before = item.launched_ns < 0;
    item.start_ns -= second;
    item.end_ns -= second;
  }
  recorded.ranges.erase(recorded.ranges.begin());
  for (auto& range : recorded.ranges) {
    range.begin_ns -= second;
    range.end_ns -= second;
  }
  recorded.end_ns -= second;
  recorded.steps = 39;
  step_graph const graph(recorded);
  CHECK(replayed_ns(graph) == Approx(10 * 51'000).epsilon(0.01));
}

}  // namespace
}  // namespace gpuprof::host::replay

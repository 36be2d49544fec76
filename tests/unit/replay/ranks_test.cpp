// SPDX-License-Identifier: Apache-2.0
// Ranks that wait for each other in collectives: edits of one rank are compared with the truth.
#include "host/replay/joined_ranks.hpp"
#include "host/replay/repair.hpp"
#include "host/replay/replay.hpp"
#include "host/replay/sensitivity.hpp"
#include "made_machine.hpp"
#include "support/catch.hpp"

#include <algorithm>

namespace gpuprof::host::replay {
namespace {

constexpr std::uint32_t steps_of_run = 30;

using program = std::vector<act>;

/// Launches a kernel, meets the other ranks, waits, and works on the CPU.
program training(std::int64_t work_ns, std::int64_t kernel_ns, std::int64_t meet_ns = 200'000) {
  program acts;
  for (int i = 0; i < 4; ++i) {
    acts.push_back(work(work_ns));
    acts.push_back(kernel("k", kernel_ns));
    acts.push_back(meet(meet_ns));
    acts.push_back(kernel("optimizer", 20'000));
  }
  acts.push_back(wait());
  return acts;
}

joined_ranks joined(std::vector<program> const& programs) {
  std::vector<steps_of_rank> ranks;
  for (auto& one : record_ranks(programs, steps_of_run))
    ranks.push_back({std::to_string(ranks.size()), 0, std::move(one)});
  return join_ranks(std::move(ranks), 0);
}

std::uint32_t name_of_work(step_graph const& graph, std::string const& name) {
  auto const& names = graph.recorded().work_names;
  return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

double with_factor(step_graph const& graph, std::string const& work, double factor,
                   std::uint32_t rank) {
  step_edit edit(graph);
  edit_scope scope;
  scope.rank = rank;
  edit.limit_to(scope);
  name_set only(graph.recorded().work_names.size());
  only[name_of_work(graph, work)] = true;
  edit.scale(only, factor);
  return step_ns(edit);
}

TEST_CASE("joined ranks replay to the length that was recorded") {
  std::vector<program> const programs{training(10'000, 300'000), training(150'000, 250'000),
                                      training(20'000, 100'000)};
  step_graph const graph(joined(programs).steps);
  CHECK(graph.recorded().meetings == 4 * steps_of_run);
  CHECK(step_ns(step_edit(graph)) == Approx(true_step_ns(programs, steps_of_run)).epsilon(1e-3));
}

TEST_CASE("the kernels of the late rank hold all ranks, those of the others nothing") {
  auto const early = training(10'000, 100'000), late = training(10'000, 400'000);
  step_graph const graph(joined({early, late}).steps);
  auto const now = step_ns(step_edit(graph));
  CHECK(with_factor(graph, "k", 0.5, 0) == Approx(now).epsilon(1e-3));
  auto const faster = true_step_ns({early, training(10'000, 200'000)}, steps_of_run);
  CHECK(with_factor(graph, "k", 0.5, 1) == Approx(faster).epsilon(0.01));
  auto const fastest = true_step_ns({early, training(10'000, 0)}, steps_of_run);
  CHECK(with_factor(graph, "k", 0, 1) == Approx(fastest).epsilon(0.01));
}

TEST_CASE("CPU work of the late rank is won by all") {
  auto const early = training(10'000, 50'000), late = training(500'000, 50'000);
  step_graph const graph(joined({early, late}).steps);
  step_edit edit(graph);
  edit_scope scope;
  scope.rank = 1;
  edit.limit_to(scope);
  edit.scale_cpu(0.5);
  auto const won = step_ns(step_edit(graph)) - step_ns(edit);
  auto const truth = true_step_ns({early, late}, steps_of_run) -
                     true_step_ns({early, training(250'000, 50'000)}, steps_of_run);
  CHECK(won == Approx(truth).epsilon(0.02));
}

TEST_CASE("a faster collective takes less than its kernels, which also wait") {
  std::vector<program> const programs{training(10'000, 100'000), training(10'000, 300'000)};
  step_graph const graph(joined(programs).steps);
  std::vector<program> const faster{training(10'000, 100'000, 100'000),
                                    training(10'000, 300'000, 100'000)};
  CHECK(with_factor(graph, "ncclDevKernel_AllReduce", 0.5, nothing) ==
        Approx(true_step_ns(faster, steps_of_run)).epsilon(0.01));
}

TEST_CASE("a rank that began earlier waits for the others as recorded") {
  std::vector<program> const programs{training(10'000, 100'000), training(10'000, 300'000)};
  auto recorded = record_ranks(programs, steps_of_run);
  constexpr std::int64_t earlier = 40'000;
  std::vector<steps_of_rank> ranks{{"0", 0, recorded[0]}, {"1", -earlier, recorded[1]}};
  for (auto& item : ranks[1].steps.items) {
    item.start_ns += earlier;
    item.end_ns += earlier;
    item.launched_ns += earlier;
  }
  for (auto& call : ranks[1].steps.calls) {
    call.begin_ns += earlier;
    call.end_ns += earlier;
  }
  step_graph const graph(join_ranks(std::move(ranks), 0).steps);
  CHECK(step_ns(step_edit(graph)) == Approx(true_step_ns(programs, steps_of_run)).epsilon(1e-3));
  CHECK(with_factor(graph, "k", 0.5, 0) ==
        Approx(true_step_ns(programs, steps_of_run)).epsilon(1e-3));
}

TEST_CASE("collectives that nothing waits for run beside the rest") {
  program serial, beside;
  for (int i = 0; i < 4; ++i) {
    for (auto* const to : {&serial, &beside}) {
      to->push_back(kernel("k", 100'000));
      to->push_back(event(0));
      to->push_back(wait_for_event(1));
      to->push_back(meet(80'000, 1));
    }
    serial.push_back(event(1));
    serial.push_back(wait_for_event(0));
  }
  step_graph const graph(joined({serial, serial}).steps);
  step_edit edit(graph);
  name_set only(graph.recorded().work_names.size());
  only[name_of_work(graph, "ncclDevKernel_AllReduce")] = true;
  edit.overlap(only);
  CHECK(step_ns(edit) == Approx(true_step_ns({beside, beside}, steps_of_run)).epsilon(0.02));
  std::vector<repair> const repairs{{.kind = repair_kind::overlap, .names = only}};
  auto const told = foretell(graph, repairs);
  CHECK(told.least_gain_ns() == Approx(0).margin(1));
  CHECK(told.greatest_gain_ns() > 0.9 * (told.now_ns - step_ns(edit)));
}

TEST_CASE("sensitivities say which rank holds the step") {
  step_graph const graph(joined({training(10'000, 100'000), training(10'000, 400'000)}).steps);
  auto const found = sensitivities_of(graph, 5);
  REQUIRE(found.ranks.size() == 2);
  CHECK(found.ranks[0].name == "0");
  CHECK(found.ranks[1].tenth_ns > 5 * found.ranks[0].tenth_ns);
  CHECK(found.ranks[1].tenth_ns < 0.1 * found.step_ns);
}

TEST_CASE("the path of joined ranks goes to the rank that began a collective last") {
  step_graph const graph(joined({training(10'000, 100'000), training(800'000, 10'000)}).steps);
  step_edit const unchanged(graph);
  auto const path = path_of(unchanged, replay(unchanged));
  CHECK(path.total_ns() == Approx(step_ns(unchanged)).epsilon(1e-3));
  CHECK(path[path_part::cpu_work] > 3 * 800'000);  // of rank 1
}

TEST_CASE("collectives without a counterpart are counted, and wait as long as they did") {
  auto recorded =
      record_ranks({training(10'000, 100'000), training(10'000, 300'000)}, steps_of_run);
  auto& items = recorded[1].items;
  auto const last = std::find_if(items.rbegin(), items.rend(), [&](auto const& item) {
    return recorded[1].work_names[item.name] == "ncclDevKernel_AllReduce";
  });
  items.erase(std::next(last).base());
  std::vector<steps_of_rank> ranks{{"0", 0, recorded[0]}, {"1", 0, recorded[1]}};
  auto const made = join_ranks(std::move(ranks), 0);
  CHECK(made.unmatched == 1);
  step_graph const graph(made.steps);
  CHECK(graph.recorded().meetings == 4 * steps_of_run - 1);
  CHECK(step_ns(step_edit(graph)) ==
        Approx(static_cast<double>(graph.recorded_ns()) / steps_of_run).epsilon(0.01));
}

}  // namespace
}  // namespace gpuprof::host::replay

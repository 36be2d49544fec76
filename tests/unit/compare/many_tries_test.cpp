// SPDX-License-Identifier: Apache-2.0
// How often a comparison errs, over many made pairs of runs.
#include "host/compare/comparison.hpp"
#include "support/catch.hpp"
#include "unit/compare/made_runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::compare;

namespace {

constexpr unsigned tries = 20;

struct tally {
  unsigned without_difference = 0;  // tries in which no line is better or worse
  unsigned found = 0;               // kernel_3 is worse
  unsigned found_alone = 0;         // and no other kernel is better or worse
  unsigned undecided = 0;           // kernel_3 is
};

tally compare_often(made_program const& base, made_program const& fresh, unsigned runs) {
  tally of;
  for (unsigned i = 0; i < tries; ++i) {
    auto const compared =
        compare_runs(made_runs(base, 2 * i + 1, runs), made_runs(fresh, 2 * i + 2, runs));
    unsigned differ = 0, other_kernels = 0;
    bool found = false;
    for (auto const& line : compared.lines) {
      if (line.name == "kernel_3") of.undecided += line.is == verdict::undecided;
      if (line.is != verdict::worse && line.is != verdict::better) continue;
      ++differ;
      if (line.kind != line_kind::kernel) continue;
      if (line.name == "kernel_3" && line.is == verdict::worse)
        found = true;
      else
        ++other_kernels;
      UNSCOPED_INFO("try " << i << ": " << line.name << " is " << name_of(line.is) << ", left "
                           << line.left.estimate << " +- " << line.left.half_width() << ", besides "
                           << line.besides.estimate << " +- " << line.besides.half_width());
    }
    of.without_difference += differ == 0;
    of.found += found;
    of.found_alone += found && other_kernels == 0;
  }
  return of;
}

made_program slowed(made_program of) {
  of.slowed = 1.03;
  return of;
}

/// A graph of twelve kernels alike, launched once in each of 600 steps. All of a launch are longer
/// or shorter together, by 10 %. Six launches were timed, and the others have the times of these.
run_digest run_of_graph(unsigned seed, double slower, bool knows_errors) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  auto run = made_run({.kernels = 0, .steps = 0}, seed);
  run.ranges.clear();
  run.step->count = 600;
  auto& line = run.kernels[kernel_named("node")].durations;
  auto& step = run.step->of;
  inferred_times times;
  kernel_record node;
  node.graph = graph_id{1};
  node.node = graph_node_id{1};
  std::uint32_t timed = 0;
  for (std::uint32_t launch = 1; launch <= 600; ++launch) {
    auto const is_timed = launch <= 3 || launch % 200 == 0;
    if (is_timed) timed = launch;
    node.correlation = correlation_id{launch};
    node.time_of = correlation_id{is_timed ? 0 : timed};
    if (is_timed) node.duration.value = std::llround(20'000 * slower * (1 + 0.1 * normal(random)));
    auto const ns = static_cast<double>(node.duration.value);
    for (int i = 0; i < 12; ++i) {
      times.add(node, 0);
      is_timed ? line.add(ns) : line.add_again(ns);
    }
    step.gpu.add(12 * ns);
    step.durations.add(1e6 + 1e5 * normal(random));
    run.kernel_ns += static_cast<std::uint64_t>(12 * ns);
  }
  for (auto* const series : {&line, &step.gpu, &step.durations}) series->finish();
  if (knows_errors)
    for (auto* const series : {&line, &step.gpu}) series->owe(times.of(0));
  return run;
}

/// In how many comparisons a line of GPU time is better or worse.
unsigned graphs_that_differ(double slower, bool know_errors) {
  unsigned differ = 0;
  constexpr unsigned pairs = 100;
  for (unsigned i = 0; i < pairs; ++i) {
    run_digest const base[] = {run_of_graph(2 * i + 1, 1, know_errors)};
    run_digest const fresh[] = {run_of_graph(2 * i + 2, slower, know_errors)};
    auto const compared = compare_runs(base, fresh);
    differ += std::ranges::any_of(compared.lines, [](difference const& line) {
      return (line.is == verdict::worse || line.is == verdict::better) &&
             (line.kind == line_kind::kernel || line.kind == line_kind::gpu_time);
    });
  }
  return differ;
}

void check_program(made_program const& program, unsigned runs) {
  CHECK(compare_often(program, program, runs).without_difference == tries);
  auto const found = compare_often(program, slowed(program), runs);
  CHECK(found.found >= tries - 1);
  CHECK(found.found_alone >= tries - 1);
}

}  // namespace

TEST_CASE("kernels of a microsecond differ by what starting them takes, and that is noise",
          "[many trials]") {
  made_program const brief{.kernel_ns = 1e3, .start_drift_ns = 40, .knows_clock = true};
  CHECK(compare_often(brief, brief, 1).without_difference >= tries - 1);
  auto slower = brief;
  slower.slowed = 1.5;  // kernel_3 takes 4 us
  CHECK(compare_often(brief, slower, 1).found >= tries - 1);
}

TEST_CASE("a greater share of computing is not worse, less idle time is better") {
  auto base = made_runs({}, 1, 1), fresh = made_runs({}, 2, 1);
  auto const ledger = [](compare::run_digest& run, double compute, double idle) {
    run.buckets = {{"compute", compute}, {"idle: CPU work", idle}};
    run.ledger_ns = compute + idle;
  };
  ledger(base.front(), 50e6, 50e6);
  ledger(fresh.front(), 50e6, 25e6);
  auto const compared = compare_runs(base, fresh);
  std::map<std::string, verdict> is;
  for (auto const& line : compared.lines)
    if (line.kind == line_kind::bucket) is[line.name] = line.is;
  CHECK(is.at("compute") == verdict::not_tested);
  CHECK(is.at("idle: CPU work") == verdict::better);
}

TEST_CASE("one capture a side: a copy between host and GPU differs as the CPU does") {
  auto const judged = [](double slowed, bool is_host_copy) {
    made_program slower;
    slower.slowed = slowed;
    auto base = made_runs({}, 1, 1), fresh = made_runs(slower, 2, 1);
    for (auto* run : {&base.front(), &fresh.front()})
      run->kernels.at(kernel_named("kernel_3")).is_host_copy = is_host_copy;
    auto const compared = compare_runs(base, fresh);
    for (auto const& line : compared.lines)
      if (line.name == "kernel_3") return line.is;
    return verdict::not_tested;
  };
  CHECK(judged(1.3, false) == verdict::worse);
  CHECK(judged(1.3, true) != verdict::worse);
  CHECK(judged(2, true) == verdict::worse);
}

TEST_CASE("one capture a side: a share of idle time is no surer than the length of a step") {
  auto const judged = [](made_program const& of) {
    auto base = made_runs(of, 1, 1), fresh = made_runs(of, 2, 1);
    base.front().buckets = {{"compute", 77e6}, {"idle", 23e6}, {"idle: launch-bound", 23e6}};
    fresh.front().buckets = {{"compute", 67e6}, {"idle", 33e6}, {"idle: launch-bound", 33e6}};
    for (auto* run : {&base.front(), &fresh.front()}) run->ledger_ns = 100e6;
    auto const compared = compare_runs(base, fresh);
    for (auto const& line : compared.lines)
      if (line.name == "idle: launch-bound") return line.is;
    return verdict::not_tested;
  };
  CHECK(judged({}) == verdict::undecided);  // the CPU holds a quarter of the step
  CHECK(judged({.kernel_ns = 2e6}) == verdict::worse);
}

TEST_CASE("one capture a side, clocks not known: a change that a faster run hides is undecided",
          "[many trials]") {
  CHECK(compare_often({}, {}, 1).without_difference == tries);
  auto const found = compare_often({}, slowed({}), 1);
  CHECK(found.found >= tries / 2);
  CHECK(found.found + found.undecided >= tries - 1);
}

TEST_CASE("one capture a side, clocks known", "[many trials]") {
  check_program({.knows_clock = true, .some_are_dram_bound = true}, 1);
}

TEST_CASE("four captures a side, clocks not known", "[many trials]") {
  check_program({}, 4);
}

TEST_CASE("nine captures a side: the rank test decides", "[many trials]") {
  check_program({.kernels = 8, .steps = 60}, 9);
}

TEST_CASE("half of the kernels wait for DRAM, clocks not known: nothing is called worse",
          "[many trials]") {
  made_program const program{.some_are_dram_bound = true};
  CHECK(compare_often(program, program, 1).without_difference == tries);
}

TEST_CASE("a GPU with a limited clock is explained by the clock", "[many trials]") {
  made_program program{.run_drift = 0.005, .knows_clock = true};
  auto limited = program;
  limited.clock = 0.94;
  CHECK(compare_often(program, limited, 1).without_difference == tries);
  auto const compared = compare_runs(made_runs(program, 1, 1), made_runs(limited, 2, 1));
  REQUIRE(compared.clock);
  CHECK(std::abs(*compared.clock - 0.064) < 0.015);
}

TEST_CASE("a clock known within 2.5 per cent from samples explains as much as it can",
          "[many trials]") {
  made_program program{.run_drift = 0.005, .knows_clock = true, .clock_error = 0.025};
  auto limited = program;
  limited.clock = 0.85;
  CHECK(compare_often(program, limited, 1).without_difference == tries);
  auto const compared = compare_runs(made_runs(program, 1, 1), made_runs(limited, 2, 1));
  REQUIRE(compared.clock);
  CHECK(std::abs(*compared.clock - 0.176) < 0.03);
}

TEST_CASE("one capture a side: kernels of graphs whose launches have the times of others",
          "[many trials]") {
  CHECK(graphs_that_differ(1, true) <= 2);
  CHECK(graphs_that_differ(1, false) >= 10);  // the repeated times look surer than they are
  CHECK(graphs_that_differ(2, true) >= 50);
}

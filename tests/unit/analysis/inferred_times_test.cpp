// SPDX-License-Identifier: Apache-2.0
// The error of sums in which launches of a graph have the times of others.
#include "host/analysis/inferred_times.hpp"

#include "host/analysis/kernel_summary.hpp"
#include "host/analysis/range_summary.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/analysis/workload_times.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;

namespace {

constexpr shape_id product{1}, norm{2};

kernel_record node(std::uint32_t launch, std::uint32_t time_of, std::int64_t ns,
                   std::uint64_t number = 1, shape_id shape = product, graph_id graph = {}) {
  kernel_record k;
  k.correlation = correlation_id{launch};
  k.time_of = correlation_id{time_of};
  k.duration = {10 * ns};
  k.node = graph_node_id{number};
  k.shape = shape;
  k.graph = raw(graph) != 0 ? graph : graph_id{7};
  return k;
}

inferred_time sum_of(std::vector<kernel_record> const& kernels, std::vector<std::uint32_t> lines) {
  inferred_times times;
  for (auto const& k : kernels) times.add(k, raw(k.shape));
  std::vector<inferred_times::part> parts;
  for (auto const line : lines) parts.push_back({line, 1});
  return times.of(parts);
}

}  // namespace

TEST_CASE("measured times add no error") {
  auto const sum = sum_of({node(1, 0, 100), node(2, 0, 140)}, {1});
  CHECK(sum.ns == 0);
  CHECK(sum.error_ns == 0.0);
  CHECK_FALSE(inferred_times().any());
}

TEST_CASE("one timed launch does not tell the error") {
  auto const sum = sum_of({node(1, 0, 100), node(2, 1, 100), node(3, 1, 100)}, {1});
  CHECK(sum.ns == 2000);
  CHECK_FALSE(sum.error_ns);
}

TEST_CASE("the error follows from the spread and from how many launches have each time") {
  // Four timed: 900, 1100, 900, 1100 ns; deviation 115.47. Two have the times of the second, three
  // of the fourth. Three degrees of freedom widen the error by 3 / 1.8.
  auto const sum =
      sum_of({node(1, 0, 90), node(2, 0, 110), node(3, 0, 90), node(4, 0, 110), node(5, 2, 110),
              node(6, 2, 110), node(7, 4, 110), node(8, 4, 110), node(9, 4, 110)},
             {1});
  CHECK(sum.ns == 5500);
  REQUIRE(sum.error_ns);
  CHECK(*sum.error_ns == Approx(115.47 * std::sqrt(4 + 9 + 5) * 3 / 1.8).epsilon(1e-3));
}

TEST_CASE("equal times still have the error of the clock") {
  auto const sum = sum_of({node(1, 0, 96), node(2, 0, 96), node(3, 0, 96), node(4, 3, 96)}, {1});
  REQUIRE(sum.error_ns);
  CHECK(*sum.error_ns == Approx(32 / std::sqrt(6) * std::sqrt(2) * 2 / 0.8));
}

TEST_CASE("kernels of one launch are longer or shorter together") {
  std::vector<kernel_record> one_node, ten_nodes;
  std::uint32_t launch = 0;
  for (auto const ns : {90, 110, 95, 105, 100}) {
    ++launch;
    one_node.push_back(node(launch, 0, ns * 10));
    for (std::uint64_t n = 1; n <= 10; ++n) ten_nodes.push_back(node(launch, 0, ns, n));
  }
  for (std::uint32_t more = 6; more < 20; ++more) {
    one_node.push_back(node(more, 5, 1000));
    for (std::uint64_t n = 1; n <= 10; ++n) ten_nodes.push_back(node(more, 5, 100, n));
  }
  CHECK(sum_of(ten_nodes, {1}).error_ns == sum_of(one_node, {1}).error_ns);
}

TEST_CASE("errors of one graph are added, those of several graphs in squares") {
  std::vector<kernel_record> same, other;
  std::uint32_t launch = 0;
  for (auto const ns : {90, 110, 95, 105, 100}) {
    ++launch;
    for (auto* const to : {&same, &other}) to->push_back(node(launch, 0, ns));
    same.push_back(node(launch, 0, ns, 2, norm));
    other.push_back(node(launch + 50, 0, ns, 2, norm, graph_id{8}));
  }
  for (std::uint32_t more = 6; more < 20; ++more) {
    for (auto* const to : {&same, &other}) to->push_back(node(more, 5, 100));
    same.push_back(node(more, 5, 100, 2, norm));
    other.push_back(node(more + 50, 55, 100, 2, norm, graph_id{8}));
  }
  // Two graphs have twice as many degrees of freedom as one, which has four.
  auto const one = sum_of(same, {1}), both = sum_of(other, {1, 2});
  CHECK(*sum_of(same, {1, 2}).error_ns == Approx(2 * *one.error_ns));
  CHECK(one.freedom == 4);
  CHECK(both.freedom == Approx(8));
  CHECK(*both.error_ns / (8 / 6.8) == Approx(std::sqrt(2) * *one.error_ns / (4 / 2.8)));
}

TEST_CASE("launches of a line that has none of the timed ones vary as the others of the graph") {
  inferred_times times;
  std::uint32_t const timed[] = {1}, others[] = {2};
  for (auto const launch : {1, 2, 3, 4})
    times.add(node(launch, 0, launch % 2 == 0 ? 110 : 90), timed, 5);
  for (auto const launch : {5, 6}) times.add(node(launch, 4, 110), others, 5);
  auto const sum = times.of(2);
  CHECK(sum.ns == 2200);
  REQUIRE(sum.error_ns);
  CHECK(*sum.error_ns == Approx(115.47 * std::sqrt(4 + 2) * 3 / 1.8).epsilon(1e-3));
  CHECK(times.of(1).error_ns == 0.0);
  inferred_times apart;
  for (auto const launch : {5, 6}) apart.add(node(launch, 4, 110), 2);
  CHECK_FALSE(apart.of(2).error_ns);
}

TEST_CASE("a timed launch with the times of a later whole counts as one measurement") {
  auto const sum = sum_of({node(1, 0, 90), node(4, 5, 110), node(2, 1, 90), node(5, 4, 110),
                           node(6, 4, 110), node(7, 0, 100)},
                          {1});
  CHECK(sum.ns == 3100);
  REQUIRE(sum.error_ns);
  CHECK(*sum.error_ns == Approx(100 * std::sqrt(1 + 4 + 3) * 2 / 0.8));
}

TEST_CASE("launches that have the times of a later timed one count as one measurement") {
  // The record of the fifth came before those of the wholes.
  auto const sum = sum_of({node(1, 0, 90), node(2, 0, 110), node(3, 5, 100), node(4, 5, 100),
                           node(5, 0, 100), node(6, 5, 100)},
                          {1});
  CHECK(sum.ns == 2000);
  CHECK(sum.freedom == Approx(3));
  REQUIRE(sum.error_ns);
  CHECK(*sum.error_ns == Approx(1000 * std::sqrt(2. / 300) * std::sqrt(4 + 2) * 3 / 1.8));
}

TEST_CASE("a launch may begin while the one before it still runs") {
  auto const sum = [](bool overlap) {
    std::vector<kernel_record> kernels;
    for (std::uint32_t launch = 1; launch <= 12; ++launch)
      for (std::uint64_t n = 1; n <= 4; ++n)
        kernels.push_back(node(launch, launch <= 6 ? 0 : 6, launch % 2 == 0 ? 110 : 90, n));
    if (overlap)  // the last of each launch runs beside the first of the next
      for (std::size_t i = 3; i + 1 < kernels.size(); i += 4) std::swap(kernels[i], kernels[i + 1]);
    return sum_of(kernels, {1});
  };
  CHECK(sum(true).ns == sum(false).ns);
  CHECK(*sum(true).error_ns == Approx(*sum(false).error_ns));
  CHECK(sum(true).freedom == sum(false).freedom);
}

TEST_CASE("the true sum lies within two errors in nearly all graphs") {
  std::mt19937 random(5);
  std::normal_distribution<double> launch_is(1, 0.05), node_is(1, 0.1);
  int within = 0;
  constexpr int graphs = 400, launches = 300;
  for (int graph = 0; graph < graphs; ++graph) {
    inferred_times times;
    double truth = 0, sum = 0;
    std::uint32_t timed = 0;
    std::vector<std::int64_t> known(4);
    for (std::uint32_t i = 1; i <= launches; ++i) {
      auto const is_timed = i <= 3 || random() % 32 == 0;
      if (is_timed) timed = i;
      auto const of_launch = launch_is(random);
      for (std::uint64_t n = 0; n < 4; ++n) {
        auto const ns = std::llround(1000 * of_launch * node_is(random));
        if (is_timed) known[n] = ns;
        truth += 10 * static_cast<double>(ns);
        sum += 10 * static_cast<double>(known[n]);
        times.add(node(i, is_timed ? 0 : timed, known[n], n + 1), 1);
      }
    }
    inferred_times::part const all[] = {{1, 1}};
    within += std::abs(sum - truth) <= 2 * times.of(all).error_ns.value();
  }
  CAPTURE(within);
  CHECK(within >= 0.92 * graphs);
  CHECK(within < graphs);  // else the error is too wide
}

TEST_CASE("sums of kernels and workloads know the part that was inferred") {
  std::vector<kernel_record> kernels;
  for (std::uint32_t i = 1; i <= 4; ++i) kernels.push_back(node(i, 0, i % 2 == 0 ? 110 : 90));
  for (std::uint32_t i = 5; i <= 9; ++i) kernels.push_back(node(i, 4, 110));
  kernel_durations durations;
  launch_metrics const metrics;
  workload_times times(metrics);
  stack_times stacks;
  for (auto k : kernels) {
    durations.add(k);
    times.add(k);
    k.stack = stack_id{3};
    stacks.add(k);
  }
  auto const by_shape = kernels_by_name(durations, {{}, [](name_id) { return ""; }, {}});
  REQUIRE(by_shape.size() == 1);
  REQUIRE(by_shape[0].inferred);
  CHECK(by_shape[0].inferred->ns == 5500);
  launched_part const all[] = {{0, 9, 0}}, third[] = {{0, 3, 0}}, graph[] = {{1, 9, 0}};
  CHECK(times.inferred(all).error_ns == by_shape[0].inferred->error_ns);
  // Five launches have the times of one. A third of them is less alike than all.
  CHECK(*times.inferred(third).error_ns ==
        Approx(*by_shape[0].inferred->error_ns * std::sqrt((25. / 9 + 5. / 3) / (25 + 5))));
  CHECK(times.inferred(graph).ns == 5500);
  CHECK(stacks.inferred({stack_id{3}}).error_ns == by_shape[0].inferred->error_ns);
  CHECK(stacks.inferred({stack_id{2}}).ns == 0);
}

TEST_CASE("the error of a line of Python is that of its own nodes of a graph") {
  stack_times alone, both;
  for (std::uint32_t i = 1; i <= 9; ++i) {
    auto const time_of = i <= 4 ? 0u : 4u;
    auto steady = node(i, time_of, i % 2 == 0 ? 110 : 90);
    auto unsteady = node(i, time_of, i % 2 == 0 ? 5000 : 100, 2);
    steady.stack = stack_id{3};
    unsteady.stack = stack_id{4};
    alone.add(steady);
    both.add(steady);
    both.add(unsteady);
  }
  REQUIRE(*alone.inferred({stack_id{3}}).error_ns > 0);
  CHECK(both.inferred({stack_id{3}}).error_ns == alone.inferred({stack_id{3}}).error_ns);
  CHECK(*both.inferred({stack_id{4}}).error_ns > 100 * *alone.inferred({stack_id{3}}).error_ns);
}

TEST_CASE("kernels of ranges know the part that was inferred, also if none was timed there") {
  using namespace gpuprof::test;
  auto t = trace_of(
      {range("first", 0_us, 50_us), range("then", 60_us, 99_us), kernel("k", 100_us, 101_us)});
  range_tree const tree(t.begins, t.ends, t.last);
  open_ranges const open(tree);
  kernel_labels const labels(t.shapes, t.text(), kernel_name_style::demangled);
  range_kernels kernels(tree, open, labels);
  auto const shape = t.kernels.front().shape;
  for (std::uint32_t i = 1; i <= 6; ++i) {
    auto k = node(i, i <= 4 ? 0 : 4, i % 2 == 0 || i > 4 ? 110 : 90, 1, shape);
    k.range = t.begins[i <= 4 ? 0 : 1].range;
    kernels.add(k);
  }
  REQUIRE(kernels.any_inferred());
  auto const rows =
      kernels.rows([&](range_key const& key) { return std::string(t.names.text(key.name)); });
  REQUIRE(rows.size() == 2);
  REQUIRE((rows[0].inferred && rows[1].inferred));
  CHECK(rows[0].inferred->ns == 0);
  CHECK(rows[0].inferred->error_ns == 0.0);
  CHECK(rows[1].inferred->ns == 2200);
  REQUIRE(rows[1].inferred->error_ns);
  CHECK(*rows[1].inferred->error_ns == Approx(115.47 * std::sqrt(4 + 2) * 3 / 1.8).epsilon(1e-3));
}

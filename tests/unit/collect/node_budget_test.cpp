// SPDX-License-Identifier: Apache-2.0
#include "guest/collect/node_budget.hpp"

#include "support/catch.hpp"

using namespace gpuprof::guest;

namespace {

constexpr std::uint32_t one_percent = 10'000;

/// Launches as long as `ns` and so often, half of them by nodes.
struct launching {
  node_budget budget;
  node_budget::call_times graph;
  std::uint64_t now = 1'000'000'000;

  void launch(std::uint64_t whole_ns, std::uint64_t by_nodes_ns, int times, std::uint64_t every) {
    for (int i = 0; i < times; ++i) {
      now += every;
      budget.add(graph, i % 2 == 0, i % 2 == 0 ? whole_ns : by_nodes_ns, now);
    }
  }
};

}  // namespace

TEST_CASE("so many launches are recorded by nodes as may cost a share of the time") {
  launching l;
  l.budget.begin(one_percent);
  CHECK(l.budget.one_in() == node_budget::usual_one_in);
  l.launch(10'000, 310'000, 210, 1'000'000);  // 0.3 ms of each ms, if all are
  CHECK(l.budget.one_in() >= 28);
  CHECK(l.budget.one_in() <= 30);
  l.launch(10'000, 310'000, 210, 100'000'000);  // seldom
  CHECK(l.budget.one_in() == 1);
  l.launch(10'000, 310'000, 2100, 310'000);
  CHECK(l.budget.one_in() > 90);
  l.budget.begin(10 * one_percent);
  l.graph = {};
  l.launch(10'000, 310'000, 210, 1'000'000);
  CHECK(l.budget.one_in() >= 2);
  CHECK(l.budget.one_in() <= 3);
}

TEST_CASE("launches that were held up do not count, and slow ones in the end") {
  launching l;
  l.budget.begin(one_percent);
  l.launch(10'000, 15'000, 100, 1'000'000);
  l.budget.add(l.graph, false, 1'000'000'000, l.now);
  CHECK(l.graph.by_nodes_ns < 70'000'000);
  l.launch(10'000, 15'000, 4, 1'000'000);
  CHECK(l.graph.by_nodes_ns == 15'000);
  l.launch(10'000, 20'000, 200, 1'000'000);
  CHECK(l.graph.by_nodes_ns > 19'000);
}

TEST_CASE("the share stays as it is while prices are not known, or without a budget") {
  launching l;
  l.budget.begin(one_percent);
  for (int i = 0; i < 1'000; ++i) l.budget.add(l.graph, true, 10'000, l.now += 1'000'000);
  CHECK(l.budget.one_in() == node_budget::usual_one_in);
  l.budget.begin(0);
  l.launch(10'000, 10'000, 1'000, 1'000'000);
  CHECK(l.budget.one_in() == node_budget::usual_one_in);
}

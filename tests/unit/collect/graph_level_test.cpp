// SPDX-License-Identifier: Apache-2.0
// Graphs are recorded as wholes only where CUPTI has seen them being instantiated; on a CUPTI that
// ends the program at any other launch under GRAPH_TRACE.
#include "guest/collect/graph_level.hpp"

#include "guest/collect/cupti_tracer.hpp"
#include "support/catch.hpp"
#include "support/deaf_observer.hpp"
#include "support/fake_cupti.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::deaf_observer;
using gpuprof::test::fake_cupti;
using launched = gpuprof::test::fake_cupti::launched;

namespace {

CUgraphExec graph(std::uintptr_t number) {
  return reinterpret_cast<CUgraphExec>(number * 64);
}

struct graph_scene {
  graph_scene() : callbacks(observer), tracer(cupti.library, budget, 64 << 10, callbacks) {}

  void start(bool some_by_nodes = false) {
    std::vector<std::string> warnings;
    REQUIRE(tracer.start({.whole_graphs = true, .some_by_nodes = some_by_nodes}, warnings));
    CHECK(warnings.empty());
  }
  bool records_wholes() const { return cupti.kinds().count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != 0; }
  std::ptrdiff_t switches() const {
    auto const all = cupti.calls();
    return std::count(all.begin(), all.end(),
                      "cuptiActivityDisable " + std::to_string(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
  }

  fake_cupti cupti;
  deaf_observer observer;
  launch_callbacks callbacks;
  memory_budget budget{16 * (64 << 10)};
  cupti_tracer tracer;
};

/// Returns true if some launch of this graph is recorded as a whole.
bool has_wholes_again(graph_scene& s) {
  for (std::uint32_t i = 0; i < 2 * graph_level::first_by_nodes; ++i)
    if (s.cupti.launch(graph(1)) == launched::whole) return true;
  return false;
}

void until(std::atomic<bool> const& is_so) {
  while (!is_so.load()) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a graph made before the capture is recorded by nodes, one made inside it as a whole") {
  graph_scene s;
  REQUIRE(s.tracer.attach());
  s.cupti.instantiate(graph(1));
  s.start();
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
  s.cupti.instantiate(graph(2));
  for (int i = 0; i < 100; ++i) {
    CHECK(s.cupti.launch(graph(2)) == launched::whole);
    CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
  }
  CHECK(s.tracer.graphs().graphs_by_nodes() == 1);
  CHECK(s.tracer.graphs().launches_by_nodes() == 101);
}

TEST_CASE("the first launches of each graph and some others are recorded by nodes, if wanted") {
  graph_scene s;
  s.start(true);
  for (auto const number : {1u, 2u}) {
    s.cupti.instantiate(graph(number));
    for (std::uint32_t i = 0; i < graph_level::first_by_nodes; ++i)
      CHECK(s.cupti.launch(graph(number)) == launched::by_nodes);
  }
  constexpr int launches = 100 * static_cast<int>(node_budget::usual_one_in);
  int by_nodes = 0;
  for (int i = 0; i < launches; ++i) by_nodes += s.cupti.launch(graph(1)) == launched::by_nodes;
  CHECK(by_nodes > 50);
  CHECK(by_nodes < 200);
  CHECK(s.tracer.graphs().launches_chosen() ==
        static_cast<std::uint64_t>(by_nodes) + 2 * graph_level::first_by_nodes);
  CHECK(s.tracer.graphs().launches_by_nodes() == 0);  // none had to be
  CHECK(s.records_wholes());
}

TEST_CASE("all launches are recorded by nodes while the budget allows it") {
  graph_scene s;
  std::vector<std::string> warnings;
  REQUIRE(s.tracer.start(
      {.whole_graphs = true, .some_by_nodes = true, .nodes_budget_millionths = 100'000'000},
      warnings));
  s.cupti.instantiate(graph(1));
  int in_a_row = 0;
  for (int i = 0; i < 100'000'000 && in_a_row < 1'000; ++i)  // until the first account
    in_a_row = s.cupti.launch(graph(1)) == launched::by_nodes ? in_a_row + 1 : 0;
  CHECK(in_a_row == 1'000);
  CHECK_FALSE(s.records_wholes());
  s.cupti.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture);
  s.cupti.instantiate(graph(2));  // under GRAPH_TRACE, or it could never be launched as a whole
  CHECK(s.cupti.launch(graph(2)) == launched::by_nodes);
  CHECK(s.tracer.graphs().graphs_by_nodes() == 0);
}

TEST_CASE("all launches are recorded by nodes while the GPU is sampled") {
  for (bool const some_by_nodes : {true, false}) {
    graph_scene s;
    s.start(some_by_nodes);
    s.cupti.instantiate(graph(1));
    for (std::uint32_t i = 0; i < graph_level::first_by_nodes; ++i) s.cupti.launch(graph(1));
    s.tracer.graphs().record_nodes(true);
    auto const expected = some_by_nodes ? launched::by_nodes : launched::whole;
    for (int i = 0; i < 100; ++i) CHECK(s.cupti.launch(graph(1)) == expected);
    s.tracer.graphs().record_nodes(false);
    s.cupti.launch(graph(1));
    CHECK(has_wholes_again(s));
    CHECK(s.records_wholes());
  }
}

TEST_CASE("a graph made while another client keeps GRAPH_TRACE off is launched by nodes") {
  std::atomic<std::uint32_t> suspensions{0};
  graph_scene s;
  s.tracer.graphs().watch(suspensions);
  s.start();
  s.cupti.instantiate(graph(1));
  CHECK(s.cupti.launch(graph(1)) == launched::whole);
  suspensions = 1;
  s.cupti.instantiate(graph(2));
  suspensions = 2;
  CHECK(s.cupti.launch(graph(2)) == launched::by_nodes);
  s.cupti.instantiate(graph(3), [&] { suspensions = 4; });  // came and went meanwhile
  CHECK(s.cupti.launch(graph(3)) == launched::by_nodes);
  s.cupti.instantiate(graph(4));
  CHECK(s.cupti.launch(graph(4)) == launched::whole);
}

TEST_CASE("graphs with conditional nodes are recorded by nodes") {
  for (auto const call : {CUPTI_DRIVER_TRACE_CBID_cuGraphCreate,
                          CUPTI_DRIVER_TRACE_CBID_cuGraphConditionalHandleCreate}) {
    graph_scene s;
    s.start(true);
    s.cupti.instantiate(graph(1));
    CHECK(has_wholes_again(s));
    s.cupti.call(call);
    CHECK(has_wholes_again(s) == (call == CUPTI_DRIVER_TRACE_CBID_cuGraphCreate));
  }
}

TEST_CASE("graphs with kernels that wait for other GPUs are recorded by nodes") {
  for (std::string const kernel :
       {"_Z8all_rowsPf", "_Z42ncclDevKernel_AllReduce_Sum_bf16_RING_LL"}) {
    graph_scene s;
    s.start(true);
    s.cupti.instantiate(graph(1));
    CHECK(has_wholes_again(s));
    s.tracer.graphs().captured(kernel.c_str());
    CHECK(has_wholes_again(s) == (kernel.find("nccl") == kernel.npos));
  }
}

TEST_CASE(
    "a program that makes many graphs has the first launch of each by nodes, and few others") {
  graph_scene s;
  s.start(true);
  constexpr std::uint32_t graphs = 2000;
  std::uint32_t others = 0;
  for (std::uint32_t i = 1; i <= graphs; ++i) {
    s.cupti.instantiate(graph(i));
    CHECK(s.cupti.launch(graph(i)) == launched::by_nodes);
    others += s.cupti.launch(graph(i)) == launched::by_nodes;
  }
  CHECK(others > graph_level::chosen_for_nothing);
  CHECK(others < graph_level::chosen_for_nothing + graphs / 8);
}

TEST_CASE("a graph whose nodes were changed is recorded by nodes again") {
  graph_scene s;
  s.start(true);
  s.cupti.instantiate(graph(1));
  while (s.cupti.launch(graph(1)) == launched::by_nodes) {
  }
  auto changed = graph(1);
  CUpti_CallbackData update{};
  update.callbackSite = CUPTI_API_EXIT;
  update.functionParams = &changed;
  launch_callbacks::entry(&s.callbacks, CUPTI_CB_DOMAIN_DRIVER_API,
                          CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, &update);
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
}

TEST_CASE("no launch is chosen while another thread launches a graph") {
  graph_scene s;
  s.start(true);
  s.cupti.instantiate(graph(1));
  s.cupti.instantiate(graph(2));
  for (std::uint32_t i = 0; i < graph_level::first_by_nodes; ++i) s.cupti.launch(graph(1));
  CHECK(s.cupti.launch(graph(2)) == launched::by_nodes);  // only the first
  std::atomic<bool> is_inside{false}, may_leave{false};
  auto whole = launched::by_nodes;
  while (whole != launched::whole) {  // until one is not chosen
    is_inside = may_leave = false;
    std::thread other([&] {
      whole = s.cupti.launch(graph(1), [&] {
        is_inside = true;
        until(may_leave);
      });
    });
    until(is_inside);
    auto const chosen = s.tracer.graphs().launches_chosen();
    if (s.records_wholes()) {
      CHECK(s.cupti.launch(graph(2)) == launched::whole);
      CHECK(s.tracer.graphs().launches_chosen() == chosen);
    }
    may_leave = true;
    other.join();
  }
}

TEST_CASE("in each capture the first launch of a graph is recorded by nodes") {
  graph_scene s;
  s.start(true);
  s.cupti.instantiate(graph(1));
  for (int capture = 0; capture < 2; ++capture) {
    CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
    CHECK(has_wholes_again(s));
    s.tracer.stop();
    s.start(true);
  }
}

TEST_CASE("graphs stay known across captures, but not after CUPTI was left") {
  graph_scene s;
  s.start();
  s.cupti.instantiate(graph(1));
  s.tracer.stop();
  CHECK_FALSE(s.records_wholes());
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
  s.start();
  CHECK(s.cupti.launch(graph(1)) == launched::whole);
  REQUIRE(s.tracer.leave());
  s.start();
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
}

TEST_CASE("a reused address between captures means another graph") {
  graph_scene s;
  s.start();
  s.cupti.instantiate(graph(1));
  s.cupti.instantiate(graph(2));
  s.tracer.stop();
  s.cupti.destroy(graph(1));
  s.cupti.instantiate(graph(1));
  s.cupti.instantiate(graph(2));  // nobody told of the end of the former
  s.start();
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
  CHECK(s.cupti.launch(graph(2)) == launched::by_nodes);
  CHECK(s.tracer.graphs().graphs_by_nodes() == 2);
}

TEST_CASE("a graph is known only if GRAPH_TRACE was on during all of its instantiation") {
  graph_scene s;
  s.start();
  s.cupti.instantiate(graph(1), [&] { CHECK(s.cupti.launch(graph(7)) == launched::by_nodes); });
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
  s.cupti.instantiate(graph(1));
  CHECK(s.cupti.launch(graph(1)) == launched::whole);
  s.tracer.stop();
  s.cupti.instantiate(graph(2), [&] { s.start(); });  // began before
  CHECK(s.cupti.launch(graph(2)) == launched::by_nodes);
}

TEST_CASE("if only unknown graphs are launched, CUPTI is no longer switched") {
  graph_scene s;
  s.start();
  for (std::uint32_t i = 0; i < 3 * graph_level::max_in_a_row; ++i)
    CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
  CHECK(s.switches() == graph_level::max_in_a_row);
  // Who builds a graph is going to instantiate it.
  auto const build =
      GENERATE(CUPTI_DRIVER_TRACE_CBID_cuGraphCreate, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture);
  s.cupti.call(build);
  CHECK(s.records_wholes());
  s.cupti.instantiate(graph(2));
  CHECK(s.cupti.launch(graph(2)) == launched::whole);
}

TEST_CASE("threads that launch both kinds take turns") {
  graph_scene s;
  s.start();
  s.cupti.instantiate(graph(2));
  std::atomic<int> wholes{0}, by_nodes{0}, crashes{0};
  auto const launch = [&](CUgraphExec which) {
    auto const how = s.cupti.launch(which);
    ++(how == launched::whole ? wholes : how == launched::by_nodes ? by_nodes : crashes);
  };
  constexpr int times = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < times; ++i) launch(graph((i + t) % 2 == 0 ? 1 : 2));
    });
  for (auto& thread : threads) thread.join();
  CHECK(crashes == 0);
  CHECK(wholes + by_nodes == 4 * times);
  CHECK(wholes > 0);
  // After a wait in vain, on a loaded machine, CUPTI may be switched while a launch is inside.
  if (s.tracer.graphs().waits_in_vain() == 0)
    CHECK(static_cast<int>(s.tracer.graphs().launches_by_nodes()) == by_nodes);
}

TEST_CASE("no launch waits long for another that does not return") {
  graph_scene s;
  s.start();
  s.cupti.instantiate(graph(2));
  auto const first = GENERATE(1, 2);
  std::atomic<bool> is_inside{false}, may_return{false};
  auto blocked = launched::crashed;
  std::thread blocks([&] {
    blocked = s.cupti.launch(graph(static_cast<std::uintptr_t>(first)), [&] {
      is_inside = true;
      until(may_return);
    });
  });
  until(is_inside);
  // By nodes in any case: the other kind is inside, and does not return before this does. Only one
  // of a thousand launches waits for that.
  for (int i = 0; i < 1000; ++i)
    CHECK(s.cupti.launch(graph(static_cast<std::uintptr_t>(3 - first))) == launched::by_nodes);
  CHECK(s.tracer.graphs().waits_in_vain() == 1);
  may_return = true;
  blocks.join();
  CHECK(blocked != launched::crashed);
  (void)s.cupti.launch(graph(2));  // after so many by nodes it may be one, too
  CHECK(s.cupti.launch(graph(2)) == launched::whole);
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
}

TEST_CASE("a launch inside another on the same thread does not wait") {
  graph_scene s;
  s.start();
  s.cupti.instantiate(graph(2));
  CHECK(s.cupti.launch(graph(2), [&] { CHECK(s.cupti.launch(graph(1)) == launched::by_nodes); }) !=
        launched::crashed);
  CHECK(s.cupti.launch(graph(1), [&] {
    CHECK(s.cupti.launch(graph(2)) == launched::by_nodes);
    CHECK(s.cupti.launch(graph(3)) == launched::by_nodes);
  }) == launched::by_nodes);
  CHECK(s.cupti.launch(graph(2)) == launched::whole);
}

TEST_CASE("a capture that ends or begins during a launch leaves GRAPH_TRACE in the right state") {
  graph_scene s;
  s.start();
  s.cupti.instantiate(graph(2));
  CHECK(s.cupti.launch(graph(1), [&] { s.tracer.stop(); }) == launched::by_nodes);
  CHECK_FALSE(s.records_wholes());
  s.start();
  CHECK(s.cupti.launch(graph(2), [&] { s.tracer.stop(); }) == launched::whole);
  s.start();
  CHECK(s.cupti.launch(graph(1)) == launched::by_nodes);
  CHECK(s.cupti.launch(graph(2)) == launched::whole);
}

TEST_CASE("GRAPH_TRACE is not enabled during a launch that began before") {
  graph_scene s;
  REQUIRE(s.tracer.attach());
  // Callbacks of launches come on early in a start, GRAPH_TRACE last.
  std::atomic<bool> is_inside{false}, may_return{false};
  auto blocked = launched::crashed;
  std::thread blocks;
  auto const memcpy = "cuptiActivityEnable";
  s.cupti.when_called(memcpy, [&] {
    if (blocks.joinable()) return;
    blocks = std::thread([&] {
      blocked = s.cupti.launch(graph(1), [&] {
        is_inside = true;
        until(may_return);
      });
    });
    until(is_inside);
  });
  s.start();
  CHECK_FALSE(s.records_wholes());
  may_return = true;
  blocks.join();
  CHECK(blocked == launched::by_nodes);
  CHECK(s.records_wholes());
}

TEST_CASE("a CUPTI that has shut itself down is not switched") {
  graph_scene s;
  s.start();
  s.tracer.abandon();
  s.cupti.forget_calls();
  (void)s.cupti.launch(graph(1));
  s.tracer.stop();
  CHECK(s.switches() == 0);
}

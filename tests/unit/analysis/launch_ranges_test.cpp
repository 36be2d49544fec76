// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/launch_ranges.hpp"

#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

constexpr auto main_thread = static_cast<thread_index>(1);

/// The name of the range that the n-th kernel belongs to; empty: none.
std::string range_of(trace const& t, std::size_t kernel = 0,
                     range_scope scope = range_scope::process, thread_index main = main_thread) {
  range_tree const tree(t.begins, t.ends, t.last);
  launch_ranges const launched(tree, scope, main);
  auto const range = launched.innermost(t.kernels[kernel]);
  return range == no_range ? std::string() : std::string(t.names.text(tree[range].name));
}

/// A kernel launched at this moment that runs much later.
event launch(duration_ns at, std::uint32_t thread) {
  return kernel("k", 900_us, 901_us).launched_at(at).on_thread(thread);
}

}  // namespace

TEST_CASE(
    "launches of a thread without ranges belong to the range in which the main thread waits") {
  auto const t =
      trace_of({range("step", 0_us, 100_us), range("backward", 40_us, 80_us), launch(50_us, 2)});
  CHECK(range_of(t) == "backward");
  CHECK(range_of(t, 0, range_scope::thread).empty());
}

TEST_CASE("a launch in a range that was left out belongs to what is around it, or to who waits") {
  auto const t = trace_of(
      {range("step", 0_us, 100_us), range("op", 20_us, 30_us).in_domain("torch"), launch(25_us, 1),
       range("node", 40_us, 60_us).in_domain("torch").on_thread(2), launch(50_us, 2)});
  range_tree tree(t.begins, t.ends, t.last);
  tree.leave_out([&](traced_range const& range) { return t.text()(range.domain) == "torch"; });
  launch_ranges const launched(tree, range_scope::process, main_thread);
  REQUIRE(tree.size() == 1);
  CHECK(launched.innermost(t.kernels[0]) == 0);
  CHECK(launched.innermost(t.kernels[1]) == 0);
  CHECK(range_of(t, 1) == "node");  // a control
}

TEST_CASE("a thread with a range of its own keeps it, whatever the main thread has open") {
  auto const t = trace_of({range("step", 0_us, 100_us), range("task", 40_us, 80_us).on_thread(2),
                           launch(50_us, 2), launch(90_us, 2)});
  CHECK(range_of(t, 0) == "task");
  CHECK(range_of(t, 1) == "step");
}

TEST_CASE("among several threads with ranges the main thread counts as the one that waits") {
  auto const t = trace_of({range("step", 0_us, 100_us), range("load", 40_us, 200_us).on_thread(3),
                           launch(50_us, 2), launch(150_us, 2)});
  CHECK(range_of(t, 0) == "step");
  CHECK(range_of(t, 1) == "load");  // the main thread has none open any more
}

TEST_CASE("the range opened last counts if the main thread has no range") {
  auto const t =
      trace_of({range("a", 0_us, 100_us).on_thread(3), range("b", 10_us, 60_us).on_thread(4),
                launch(50_us, 2), launch(70_us, 2)});
  CHECK(range_of(t, 0) == "b");
  CHECK(range_of(t, 1) == "a");
}

TEST_CASE("the main thread need not be the first that did something") {
  auto const t = trace_of({range("load", 20_us, 100_us).on_thread(1),
                           range("step", 10_us, 100_us).on_thread(3), launch(50_us, 2)});
  CHECK(range_of(t, 0, range_scope::process, static_cast<thread_index>(3)) == "step");
  // Where nobody recorded which one it is, the range that was opened last is as good as any.
  CHECK(range_of(t, 0, range_scope::process, thread_index{}) == "load");
}

TEST_CASE("a range that was closed before the launch does not get it") {
  auto const t = trace_of({range("step", 0_us, 100_us), range("forward", 10_us, 40_us),
                           launch(50_us, 2), launch(110_us, 2)});
  CHECK(range_of(t, 0) == "step");
  CHECK(range_of(t, 1).empty());
}

TEST_CASE("ranges that follow each other at once do not get each other's launches") {
  auto const t = trace_of({range("forward", 0_us, 40_us), range("backward", 40_us, 80_us),
                           launch(39_us, 2), launch(40_us, 2), launch(80_us, 2)});
  CHECK(range_of(t, 0) == "forward");
  CHECK(range_of(t, 1) == "backward");
  CHECK(range_of(t, 2) == "backward");
}

TEST_CASE("a range that never ends gets launches to the end of the trace") {
  auto const t = trace_of({range("server", 0_us, 0_us).left_open(), launch(800_us, 2)});
  CHECK(range_of(t) == "server");
}

TEST_CASE("start/end ranges apply to all threads and never count as waiting") {
  auto const t =
      trace_of({range("step", 0_us, 100_us),
                range("request", 20_us, 90_us).start_end().on_thread(2), launch(50_us, 2)});
  CHECK(range_of(t) == "step");
  auto const alone = trace_of({range("request", 20_us, 90_us).start_end(), launch(50_us, 2)});
  CHECK(range_of(alone).empty());
}

TEST_CASE("all of a graph launched by a thread without ranges belongs to the range that waits") {
  auto t = trace_of({range("decode", 0_us, 100_us), launch(50_us, 2), launch(50_us, 2),
                     graph(200_us, 300_us).launched_at(50_us).on_thread(2)});
  for (auto& k : t.kernels) k.graph = static_cast<graph_id>(3);
  CHECK(range_of(t, 0) == "decode");
  CHECK(range_of(t, 1) == "decode");
  range_tree const tree(t.begins, t.ends, t.last);
  launch_ranges const launched(tree, range_scope::process, main_thread);
  CHECK(launched.innermost(t.graphs[0]) == 0);
}

TEST_CASE("launches that were not recorded, and those in unrecorded ranges, have no range") {
  auto t = trace_of({range("step", 0_us, 100_us), launch(50_us, 2), launch(50_us, 1)});
  t.kernels[0].launched = {};
  t.kernels[1].range = static_cast<range_id>(999);
  CHECK(range_of(t, 0).empty());
  CHECK(range_of(t, 1).empty());
}

TEST_CASE("launch times may be queried in any order") {
  auto const t = trace_of({range("a", 0_us, 10_us), range("b", 20_us, 30_us), launch(25_us, 2),
                           launch(5_us, 2), launch(15_us, 2), launch(28_us, 2)});
  range_tree const tree(t.begins, t.ends, t.last);
  launch_ranges const launched(tree, range_scope::process, main_thread);
  std::vector<std::uint32_t> found;
  for (auto const& k : t.kernels) found.push_back(launched.innermost(k));
  CHECK(found == std::vector<std::uint32_t>{1, 0, no_range, 1});
}

// SPDX-License-Identifier: Apache-2.0
// The pace of a run, sequences of launches, names of calls.
#include "host/analysis/timeline/gap_table.hpp"
#include "host/analysis/timeline/host_calls.hpp"
#include "host/analysis/timeline/launch_pace.hpp"
#include "host/analysis/timeline/launch_sequences.hpp"
#include "items.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

TEST_CASE("calls are known by their verb, in both APIs and with any suffix") {
  CHECK(kind_of_call("cudaLaunchKernel_v7000") == call_kind::launch);
  CHECK(kind_of_call("cuLaunchKernelEx") == call_kind::launch);
  CHECK(kind_of_call("cudaGraphLaunch_v10000") == call_kind::launch);
  CHECK(kind_of_call("cudaMemcpyAsync_v3020") == call_kind::launch);
  CHECK(kind_of_call("cudaMemcpy_v3020") == call_kind::blocking_copy);
  CHECK(kind_of_call("cuMemcpyDtoH_v2") == call_kind::blocking_copy);
  CHECK(kind_of_call("cudaStreamSynchronize_v3020") == call_kind::synchronize);
  CHECK(kind_of_call("cuCtxSynchronize") == call_kind::synchronize);
  CHECK(kind_of_call("cudaMalloc_v3020") == call_kind::allocate);
  CHECK(kind_of_call("cuMemFree_v2") == call_kind::allocate);
  CHECK(kind_of_call("cudaMallocAsync_v11020") == call_kind::other);  // waits for nobody
  CHECK(kind_of_call("cuLibraryLoadData") == call_kind::load_module);
  CHECK(kind_of_call("cudaGraphInstantiate_v12000") == call_kind::build_graph);
  CHECK(kind_of_call("cuLinkAddData_v2") == call_kind::load_module);  // compiles PTX
  CHECK(kind_of_call("cuModuleLoadDataEx") == call_kind::load_module);
  CHECK(kind_of_call("cuStreamSynchronize_ptsz") == call_kind::synchronize);
  CHECK(kind_of_call("cuMemcpyDtoHAsync_v2_ptsz") == call_kind::launch);
  CHECK(kind_of_call("cuMemAllocHost_v2") == call_kind::allocate);
  CHECK(kind_of_call("cuMemFreeAsync_ptsz") == call_kind::other);
  CHECK(kind_of_call("cuGraphInstantiateWithParams_ptsz") == call_kind::build_graph);
  CHECK(kind_of_call("cudaGetDevice_v3020") == call_kind::other);
  CHECK(kind_of_call("cudaLaunchHostFunc_v10000") == call_kind::other);
  CHECK(waits_for_whole_device("cudaDeviceSynchronize_v3020"));
  CHECK_FALSE(waits_for_whole_device("cudaStreamSynchronize_v3020"));
}

TEST_CASE("a driver call inside of a runtime call is the same call") {
  recent_calls recent;
  auto const thread = static_cast<thread_index>(1);
  recent.add(thread, {.begin = us(0), .end = us(10), .kind = call_kind::synchronize});
  CHECK(recent.lies_in_one_of_its_kind(
      thread, {.begin = us(1), .end = us(9), .kind = call_kind::synchronize}));
  CHECK_FALSE(recent.lies_in_one_of_its_kind(
      thread, {.begin = us(1), .end = us(9), .kind = call_kind::load_module}));
  CHECK_FALSE(recent.lies_in_one_of_its_kind(
      thread, {.begin = us(12), .end = us(14), .kind = call_kind::synchronize}));
  // cudaMalloc, which loads a module and then calls cuMemAlloc.
  recent.add(thread, {.begin = us(20), .end = us(90), .kind = call_kind::allocate});
  recent.add(thread, {.begin = us(21), .end = us(50), .kind = call_kind::load_module});
  CHECK(recent.lies_in_one_of_its_kind(
      thread, {.begin = us(60), .end = us(80), .kind = call_kind::allocate}));
}

TEST_CASE("quantiles of a histogram are within 3 %") {
  log_histogram all;
  CHECK_FALSE(all.quantile(0.5));
  for (std::uint64_t ns = 1; ns <= 100'000; ++ns) all.add(ns);
  CHECK(*all.quantile(0.5) == Approx(50'000).epsilon(0.035));
  CHECK(*all.quantile(0.01) == Approx(1'000).epsilon(0.035));
  CHECK(*all.quantile(1) == Approx(100'000).epsilon(0.035));
}

TEST_CASE("the pace of a run is measured only from suitable launches") {
  launch_pace of;
  double at = 0;
  for (int i = 0; i < 100; ++i) {
    of.add(work(at, at + 50, at - 8));       // starts 8 us after its launch
    of.add(work(at + 51, at + 60, at - 5));  // was queued: 1 us after the other
    at += 200;                               // then nothing for long
  }
  auto const run = of.measured(3'000);
  CHECK(run.delay_is_measured);
  CHECK(run.start_delay == Approx(8'000).epsilon(0.035));
  CHECK(run.usual_delay == Approx(8'000).epsilon(0.035));
  CHECK(run.back_to_back == Approx(1'000).epsilon(0.035));
  auto const few = launch_pace().measured(3'000);
  CHECK_FALSE(few.delay_is_measured);
  CHECK(few.start_delay == 3'000);
}

TEST_CASE("pauses before copies are measured separately") {
  launch_pace of;
  double at = 0;
  for (int i = 0; i < 100; ++i) {
    of.add(work(at, at + 50, at - 40));
    of.add(work(at + 51, at + 60, at - 36));  // launched 4 us after the other
    of.add_transfer(of_kind(work(at + 64, at + 65, at - 30), item_kind::transfer));
    at += 200;
  }
  auto const run = of.measured();
  CHECK(run.back_to_back == Approx(1'000).epsilon(0.035));
  CHECK(run.before_copy == Approx(4'000).epsilon(0.035));
  CHECK(launch_pace().measured().before_copy == launch_pace().measured().back_to_back);
}

TEST_CASE("the start delay of graphs is not used for kernels") {
  launch_pace of;
  double at = 0;
  for (int i = 0; i < 100; ++i, at += 1000) {
    of.add(work(at, at + 50, at - 8));
    auto node = work(at + 500, at + 510, at + 100);
    node.of_graph = true;
    of.add(node);
  }
  auto const run = of.measured();
  CHECK(run.usual_delay == Approx(8'000).epsilon(0.035));
  CHECK(run.graph_delay == Approx(400'000).epsilon(0.035));
}

TEST_CASE("the fastest 5 % of allocations set the low gain") {
  gap_table gaps;
  gap_key const key{.cause = time_bucket::allocation, .call = name_id{5}, .range = {}};
  for (int i = 0; i < 6; ++i) gaps.add(key, 110'000, 100'000);
  for (int i = 0; i < 94; ++i) gaps.add(key, 2'010'000, 2'000'000);
  auto const& sum = gaps.sums().at(key);
  CHECK(sum.sure_ns == 188'600'000);
  CHECK(gaps.sure_of(key, sum) == Approx(7'000'000).epsilon(0.035));  // tracing lengthens them
  gap_key const wait{.cause = time_bucket::synchronization, .call = name_id{6}, .range = {}};
  gaps.add(wait, 10, 8);
  CHECK(gaps.sure_of(wait, gaps.sums().at(wait)) == 8);
}

namespace {

/// Kernels of the given shapes, one after the other.
void add_all(launch_sequences& to, std::vector<std::uint32_t> const& shapes, double& at,
             bool after_wait = false) {
  for (auto const shape : shapes) {
    auto item = work(at, at + 5);
    item.subject = shape;
    to.add(item, after_wait);
    after_wait = false;
    at += 10;
  }
}

}  // namespace

TEST_CASE("launches that repeat in one order are found, with their idle time") {
  launch_sequences of;
  double at = 0;
  add_all(of, {90, 91, 92}, at);
  for (int step = 0; step < 20; ++step) add_all(of, {1, 2, 3, 2, 3, 4}, at);
  auto const found = of.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].length == 6);
  CHECK(found[0].repetitions == 20);
  CHECK(found[0].busy_ns == 20 * 30'000.0);
  CHECK(found[0].run_ns == 20 * 55'000.0);
  CHECK_FALSE(found[0].has_waits);
}

TEST_CASE("sequences of shapes with large numbers are found as well") {
  constexpr std::uint32_t large = 5'000'000;
  launch_sequences of;
  double at = 0;
  for (int step = 0; step < 20; ++step)
    add_all(of, {2, large + 1, large + 3, large + 4, 5, large + 6}, at);
  auto const found = of.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].length == 6);
  CHECK(found[0].repetitions == 20);
}

TEST_CASE("short and rare sequences are not reported") {
  launch_sequences of;
  double at = 0;
  for (int step = 0; step < 20; ++step) add_all(of, {1, 2, 3, 4}, at);
  CHECK(of.found().empty());
  launch_sequences rare;
  for (int step = 0; step < 9; ++step) add_all(rare, {1, 2, 3, 4, 5, 6}, at);
  CHECK(rare.found().empty());
}

TEST_CASE("a repetition with a wait inside does not count with the others") {
  launch_sequences of;
  double at = 0;
  for (int step = 0; step < 20; ++step) {
    add_all(of, {1, 2, 3}, at);
    add_all(of, {4, 5, 6}, at, step == 7);
  }
  auto const found = of.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].repetitions == 19);
  CHECK_FALSE(found[0].has_waits);
  // 5 us from each to the next: not across the one with the wait.
  CHECK(found[0].between_ns == 17 * 5'000.0);
}

TEST_CASE("a wait between two repetitions is not time that a graph of both would save") {
  launch_sequences of;
  double at = 0;
  for (int step = 0; step < 20; ++step) add_all(of, {1, 2, 3, 4, 5, 6}, at, step % 2 == 0);
  CHECK(of.found().at(0).between_ns == 10 * 5'000.0);
}

TEST_CASE("a wait inside of a sequence shows, one between two repetitions does not") {
  launch_sequences between, inside;
  double at = 0;
  for (int step = 0; step < 20; ++step) {
    add_all(between, {1, 2, 3, 4, 5, 6}, at, true);
    add_all(inside, {1, 2, 3}, at);
    add_all(inside, {4, 5, 6}, at, true);
  }
  CHECK_FALSE(between.found().at(0).has_waits);
  CHECK(inside.found().at(0).has_waits);
}

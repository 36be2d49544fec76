// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/timeline/gap_table.hpp"
#include "items.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

constexpr name_id some_call{5};

host_call call(call_kind kind, double begin, double end) {
  return {.begin = us(begin), .end = us(end), .name = some_call, .kind = kind};
}

/// Work starts 7 us after its launch, kernels of a stream 1 us after each other, a thread launches
/// every 10 us.
pace const usual{.start_delay = 6'000,
                 .usual_delay = 7'000,
                 .back_to_back = 1'000,
                 .launch_distance = 10'000,
                 .kernel_length = 5'000,
                 .round_trip = 15'000};

struct scene {
  std::deque<host_call> calls;
  launching_thread thread{.calls = nullptr, .previous_launch = {}, .calls_recorded = true};

  gap_cause of(double begin, double end, double launched) {
    thread.calls = &calls;
    return cause_of_gap(us(begin), us(end), work(end, end + 10, launched), thread, usual);
  }
};

}  // namespace

TEST_CASE("a pause of twice the usual length belongs to the GPU itself") {
  CHECK(scene().of(100, 102, 50).bucket == time_bucket::back_to_back);
  // Unless the work came just then: with launches of 3 us and kernels of 2 all pauses are short.
  CHECK(scene().of(100, 102, 95).bucket == time_bucket::launch_bound);
}

TEST_CASE("work queued long before was waiting for other work on the GPU") {
  auto const cause = scene().of(100, 200, 50);
  CHECK(cause.bucket == time_bucket::dependency);
  CHECK(cause.sure_ns == 99'000);
}

TEST_CASE("a wait that returned in the gap drained the queue") {
  scene of;
  of.calls = {call(call_kind::synchronize, 20, 108)};
  auto const cause = of.of(100, 130, 123);
  CHECK(cause.bucket == time_bucket::synchronization);
  CHECK(cause.call == some_call);
  CHECK(cause.sure_ns == 29'000);  // of the gap; the wait was longer
}

TEST_CASE("time after a wait counts as CPU work if it is longer than the wait") {
  scene of;
  of.calls = {call(call_kind::synchronize, 80, 105)};
  CHECK(of.of(100, 300, 293).bucket == time_bucket::synchronization);  // it may have launched
  CHECK(of.of(100, 6'000'000, 5'999'993).bucket == time_bucket::cpu_work);
  of.calls = {call(call_kind::synchronize, 20, 2'000)};
  CHECK(of.of(1'900, 3'500, 3'493).bucket == time_bucket::synchronization);
  CHECK(of.of(1'900, 6'000, 5'993).bucket == time_bucket::cpu_work);
}

TEST_CASE("returning from a wait and starting take no longer, for sure, than the machine needs") {
  scene of;
  of.calls = {call(call_kind::synchronize, 20, 118)};
  // 18 us until the wait returned and 7 from the launch to the start: 10 more than the round trip.
  CHECK(of.of(100, 150, 143).sure_ns == 39'000);
  auto unknown = usual;
  unknown.round_trip = 0;
  auto const cause = cause_of_gap(us(100), us(150), work(150, 160, 143), of.thread, unknown);
  CHECK(cause.sure_ns == 24'000);  // what the thread did between the two
}

TEST_CASE("a copy that waits and a wait directly after it are one wait") {
  scene of;
  of.calls = {call(call_kind::blocking_copy, 20, 100), call(call_kind::synchronize, 105, 108)};
  CHECK(of.of(100, 130, 123).sure_ns == 29'000);
  of.calls.front() = call(call_kind::blocking_copy, 20, 80);  // long before: the wait alone
  of.calls.front().reach = us(100);
  CHECK(of.of(100, 130, 123).sure_ns == 3'000);
}

TEST_CASE("the pause before a copy is longer than the one between kernels") {
  auto run = usual;
  run.before_copy = 4'000;
  scene of;
  of.thread.calls = &of.calls;
  auto copy = work(107, 108, 20);
  CHECK(cause_of_gap(us(100), us(107), copy, of.thread, run).bucket == time_bucket::dependency);
  copy.is_copy = true;
  CHECK(cause_of_gap(us(100), us(107), copy, of.thread, run).bucket == time_bucket::back_to_back);
}

TEST_CASE("a wait that returned before the gap has nothing to do with it") {
  scene of;
  of.calls = {call(call_kind::synchronize, 20, 40)};
  of.thread.previous_launch = us(120);
  CHECK(of.of(100, 135, 128).bucket == time_bucket::launch_bound);
}

TEST_CASE("an allocation that fills the gap is its cause, though a wait came before it") {
  scene of;
  of.calls = {call(call_kind::synchronize, 20, 101), call(call_kind::allocate, 102, 180)};
  auto const cause = of.of(100, 192, 185);
  CHECK(cause.bucket == time_bucket::allocation);
  CHECK(cause.sure_ns == 78'000);
}

TEST_CASE("the GPU waits for a thread that launches as fast as it can") {
  scene of;
  of.thread.previous_launch = us(100);
  CHECK(of.of(100, 127, 120).bucket == time_bucket::launch_bound);
  of.thread.previous_launch = us(20);
  CHECK(of.of(100, 127, 120).bucket == time_bucket::cpu_work);
}

TEST_CASE("launching calls that fill the gap are its cause, however slow") {
  scene of;
  of.calls = {call(call_kind::launch, 100, 160), call(call_kind::launch, 165, 200)};
  CHECK(of.of(100, 207, 200).bucket == time_bucket::launch_bound);
}

TEST_CASE("a graph may start as late as graphs usually do: only a later start is a dependency") {
  auto run = usual;
  scene of;
  of.thread.calls = &of.calls;
  auto node = work(500, 510, 40);
  auto const bucket = [&] { return cause_of_gap(us(400), us(500), node, of.thread, run).bucket; };
  CHECK(bucket() == time_bucket::dependency);
  node.of_graph = true;
  CHECK(bucket() == time_bucket::dependency);  // how late they are is not known
  run.graph_delay = 450'000;
  CHECK(bucket() == time_bucket::launch_bound);
  run.graph_delay = 200'000;
  CHECK(bucket() == time_bucket::dependency);
}

TEST_CASE("a late start of a kernel's first launch means that the launch loaded it") {
  scene of;
  of.thread.is_first_of_kernel = true;
  CHECK(of.of(100, 900, 105).bucket == time_bucket::module_load);
  of.thread.is_first_of_kernel = false;
  CHECK(of.of(100, 900, 105).bucket == time_bucket::dependency);
}

TEST_CASE("a launching call that returned soon has not loaded its kernel") {
  scene of;
  of.thread.is_first_of_kernel = true;
  of.calls = {call(call_kind::launch, 105, 110)};
  CHECK(of.of(100, 900, 105).bucket == time_bucket::dependency);
  of.calls = {call(call_kind::launch, 105, 890)};
  CHECK(of.of(100, 900, 105).bucket == time_bucket::module_load);
  // Where calls that launch are not recorded, the next call tells.
  of.calls = {call(call_kind::synchronize, 120, 1'000)};
  CHECK(of.of(100, 900, 105).bucket == time_bucket::dependency);
  of.calls = {call(call_kind::synchronize, 880, 1'000)};
  CHECK(of.of(100, 900, 105).bucket == time_bucket::module_load);
}

TEST_CASE("a slow launching call does not count as a dependency") {
  scene of;
  of.calls = {call(call_kind::launch, 105, 890)};
  CHECK(of.of(100, 900, 105).bucket == time_bucket::launch_bound);
}

TEST_CASE("for other gaps the place in the program gives the cause") {
  scene of;
  of.thread.loads_data = true;
  CHECK(of.of(100, 1000, 993).bucket == time_bucket::data_loading);
  of.thread.loads_data = false;
  of.thread.is_between_steps = true;
  CHECK(of.of(100, 1000, 993).bucket == time_bucket::between_steps);
  of.thread.is_between_steps = false;
  CHECK(of.of(100, 1000, 993).bucket == time_bucket::cpu_work);
}

TEST_CASE("without records of calls the cause on the host is unknown") {
  scene of;
  of.thread.calls_recorded = false;
  CHECK(of.of(100, 1000, 993).bucket == time_bucket::host_unknown);
}

TEST_CASE("a call around a shorter call is still found") {
  scene of;
  auto outer = call(call_kind::build_graph, 50, 190);
  auto inner = call(call_kind::allocate, 60, 70);
  outer.reach = inner.reach = outer.end;
  of.calls = {outer, inner};
  CHECK(of.of(100, 202, 195).bucket == time_bucket::graph_build);
}

TEST_CASE("loading data after a wait counts as data loading") {
  scene of;
  of.calls = {call(call_kind::synchronize, 20, 101)};
  of.thread.loads_data = true;
  CHECK(of.of(100, 5000, 4993).bucket == time_bucket::data_loading);
}

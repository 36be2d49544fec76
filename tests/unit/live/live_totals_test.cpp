// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_totals.hpp"

#include "support/allocation_count.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

#include <atomic>
#include <thread>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

/// Hands a trace over in the order the library does: shapes, then ranges as they begin, work, ends.
void feed(live_totals& totals, trace const& t) {
  for (auto const& shape : t.shapes) totals.add(shape);
  for (auto const& begin : t.begins) totals.add(begin);
  for (auto const& end : t.ends) totals.add(end);
  totals.add(t.kernels);
  for (auto const& c : t.copies) totals.add(c);
  for (auto const& f : t.fills) totals.add(f);
  for (auto const& g : t.graphs) totals.add(g);
}

live_snapshot totals_of(trace const& t, live_totals::capacity limits = {}) {
  live_totals totals(t.text(), limits);
  feed(totals, t);
  return totals.snapshot();
}

live_range find(live_snapshot const& s, std::string_view name) {
  for (auto const& r : s.ranges)
    if (r.name == name) return r;
  return {};
}

}  // namespace

TEST_CASE("live totals per kernel name, longest total first") {
  auto const s = totals_of(
      trace_of({kernel("a", 0_us, 1_us), kernel("b", 1_us, 9_us), kernel("a", 10_us, 13_us)}));
  REQUIRE(s.kernels.size() == 2);
  CHECK(s.kernels[0].name == "b");
  CHECK(s.kernels[1].count == 2);
  CHECK(s.kernels[1].total_ns == 4000);
  CHECK(s.kernels[1].minimum_ns == 1000);
  CHECK(s.kernels[1].maximum_ns == 3000);
  CHECK(s.kernel_count == 3);
  CHECK(s.kernel_ns == 12'000);
}

TEST_CASE("live totals per direction of copy, and for fills and graphs") {
  auto const s = totals_of(trace_of({copy(copy_kind::device_to_host, 100, 0_us, 1_us),
                                     copy(copy_kind::device_to_host, 200, 1_us, 3_us),
                                     fill(50, 4_us, 5_us), graph(6_us, 9_us)}));
  REQUIRE(s.copies.size() == 2);
  CHECK(s.copies[0].kind == copy_kind::device_to_host);
  CHECK(s.copies[0].bytes == 300);
  CHECK(s.copies[0].count == 2);
  CHECK(s.copies[1].is_fill);
  CHECK(s.graph_count == 1);
  CHECK(s.graph_ns == 3000);
}

TEST_CASE("live totals give a kernel to its range and all ranges around it, once for each name") {
  auto const s = totals_of(
      trace_of({range("step", 0_us, 100_us), range("f", 10_us, 50_us), range("f", 20_us, 40_us),
                kernel("k", 25_us, 30_us), kernel("k", 60_us, 61_us)}));
  CHECK(find(s, "step").gpu_ns == 6000);
  CHECK(find(s, "step").gpu_operations == 2);
  CHECK(find(s, "step").cpu_ns == 100'000);
  CHECK(find(s, "f").gpu_ns == 5000);
  CHECK(find(s, "f").gpu_operations == 1);
  CHECK(find(s, "f").count == 2);
}

TEST_CASE("live totals give start/end ranges the work of all threads") {
  auto const s =
      totals_of(trace_of({range("request", 0_us, 50_us).start_end().in_domain("web"),
                          kernel("k", 10_us, 20_us).on_thread(2), kernel("k", 60_us, 70_us)}));
  CHECK(find(s, "web:request").gpu_ns == 10'000);
}

TEST_CASE("names beyond the capacity are summed as (other)") {
  std::vector<event> events;
  for (int i = 0; i < 10; ++i) {
    auto const at = duration_ns{i * 100};
    events.push_back(kernel(numbered("k", i), at, at + 10_ns));
    events.push_back(range(numbered("r", i), at, at + 50_ns));
  }
  auto const s = totals_of(trace_of(events), {.names = 4});
  REQUIRE(s.kernels.size() == 5);
  CHECK(s.kernels[0].name == "(other)");
  CHECK(s.kernels[0].count == 6);
  CHECK(s.kernel_count == 10);
  CHECK(find(s, "(other)").count == 6);
  CHECK(find(s, "(other)").gpu_operations == 6);
}

TEST_CASE("work of a range that is too old counts in no range, and that is reported") {
  std::vector<event> events;
  for (int i = 0; i < 40; ++i) {
    auto const at = duration_ns{i * 100};
    events.push_back(range("r", at, at + 50_ns));
    events.push_back(kernel("k", at + 10_ns, at + 20_ns));
  }
  auto const s = totals_of(trace_of(events), {.recent_ranges = 8});
  CHECK(s.without_range > 0);
  CHECK(find(s, "r").gpu_operations + s.without_range == 40);
  CHECK(s.kernel_count == 40);
}

TEST_CASE("a range that stays open keeps its place even if many follow") {
  std::vector<event> events = {range("outer", 0_ns, 100'000_ns)};
  for (int i = 1; i < 200; ++i)
    events.push_back(range("inner", duration_ns{i * 100}, duration_ns{i * 100 + 50}));
  auto const t = trace_of(events);
  live_totals totals(t.text(), {.recent_ranges = 8});
  for (auto const& begin : t.begins) {
    totals.add(begin);
    if (raw(begin.parent) != 0)
      for (auto const& end : t.ends)
        if (end.range == begin.range) totals.add(end);
  }
  kernel_record k;
  k.duration = 7_ns;
  k.range = t.id_of("outer");
  totals.add(k);
  CHECK(find(totals.snapshot(), "outer").gpu_ns == 7);
}

TEST_CASE("clearing sets all counts to zero, and names stay known") {
  auto const t = trace_of({kernel("k", 0_us, 1_us)});
  live_totals totals(t.text());
  feed(totals, t);
  totals.clear();
  CHECK(totals.snapshot().kernels.empty());
  totals.add(t.kernels);
  REQUIRE(totals.snapshot().kernels.size() == 1);
  CHECK(totals.snapshot().kernels[0].name == "k");
  CHECK(totals.snapshot().kernels[0].count == 1);
}

TEST_CASE("nothing is allocated after the first record of each name") {
  auto const t =
      trace_of({range("step", 0_us, 100_us), range("req", 0_us, 90_us).start_end(),
                kernel("k", 10_us, 20_us), copy(copy_kind::host_to_device, 8, 1_us, 2_us),
                fill(8, 3_us, 4_us), graph(5_us, 6_us)});
  live_totals totals(t.text());
  feed(totals, t);
  auto const before = allocations();
  for (int i = 0; i < 1000; ++i) feed(totals, t);
  CHECK(allocations() == before);
}

TEST_CASE("snapshots taken while another thread adds are each consistent") {
  auto const t = trace_of({kernel("k", 0_ns, 10_ns)});
  live_totals totals(t.text());
  feed(totals, t);
  std::atomic<bool> stop{false};
  std::thread adding([&] {
    std::vector<kernel_record> const batch(64, t.kernels[0]);
    while (!stop) totals.add(batch);
  });
  bool consistent = true;
  std::uint64_t last = 0;
  for (int i = 0; i < 500; ++i) {
    auto const s = totals.snapshot();
    consistent = consistent && s.kernel_ns == s.kernel_count * 10 &&
                 s.kernels[0].count == s.kernel_count && s.kernel_count >= last &&
                 s.kernel_count % 64 == 1;
    last = s.kernel_count;
  }
  stop = true;
  adding.join();
  CHECK(consistent);
}

// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_workloads.hpp"

#include "guest/live/live_metrics.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

launch_tally tally_in(workload_sums const& sums, std::string_view range) {
  launch_tally all;
  for (auto const& row : sums.ranges()) {
    if (sums.range_names[raw(row.key.name)] != range) continue;
    for (auto const& [workload, tally] : row.workloads) {
      all.launches += tally.launches;
      all.slowed_launches += tally.slowed_launches;
      all.ns += tally.ns;
      all.slowed_ns += tally.slowed_ns;
    }
  }
  return all;
}

void feed(live_workloads& sums, trace const& t) {
  for (auto const& shape : t.shapes) sums.add(shape);
  for (auto const& begin : t.begins) sums.add(begin);
  for (auto const& kernel : t.kernels) sums.add(kernel, false);
  for (auto const& end : t.ends) sums.add(end);
}

}  // namespace

TEST_CASE("a launch slowed by counting counts as slowed in every range around it") {
  auto const t = trace_of({range("outer", 0_us, 100_us), range("inner", 10_us, 50_us),
                           range("open", 0_us, 90_us).start_end(), kernel("k", 20_us, 25_us),
                           kernel("k", 30_us, 49_us), kernel("k", 60_us, 65_us)});
  live_workloads sums(t.text(), {});
  feed(sums, t);
  sums.note_sampled(t.kernels[1], false);
  sums.note_slowed(t.kernels[1]);
  for (auto const* const name : {"outer", "open"}) {
    CHECK(tally_in(sums.sums(), name).launches == 3);
    CHECK(tally_in(sums.sums(), name).slowed_launches == 1);
    CHECK(tally_in(sums.sums(), name).ns == 10'000);
    CHECK(tally_in(sums.sums(), name).slowed_ns == 19'000);
  }
  CHECK(tally_in(sums.sums(), "inner").ns == 5000);
  launch_metrics const nothing;
  CHECK(*sums.sums().times(nothing).undisturbed_mean(1) == 5000);
}

TEST_CASE("beyond the limit of cells launches count in their range but not by workload") {
  auto const t = trace_of({range("r", 0_us, 100_us), kernel("a", 1_us, 2_us),
                           kernel("b", 2_us, 4_us), kernel("c", 4_us, 8_us)});
  live_workloads sums(t.text(), {.cells = 1});
  feed(sums, t);
  CHECK(tally_in(sums.sums(), "r").launches == 3);
  CHECK(tally_in(sums.sums(), "r").ns == 7000);
  CHECK(sums.sums().workloads.size() == 2);
}

TEST_CASE("live metrics allocate nothing after the first of each workload and range") {
  auto const t =
      trace_of({range("step", 0_us, 100_us), range("inner", 5_us, 90_us),
                range("open", 0_us, 90_us).start_end(), kernel("k", 10_us, 20_us),
                kernel("l", 30_us, 31_us), copy(copy_kind::host_to_device, 8, 1_us, 2_us)});
  live_metrics live(t.text());
  auto const feed_all = [&] {
    for (auto const& begin : t.begins) live.add(begin);
    live.add(t.kernels);
    live.add(t.copies[0]);
    for (auto const& end : t.ends) live.add(end);
  };
  for (auto const& shape : t.shapes) live.add(shape);
  feed_all();
  auto const before = allocations();
  for (int i = 0; i < 1000; ++i) feed_all();
  CHECK(allocations() == before);
}

TEST_CASE("more counted launches than launches give an unknown time, not a huge one") {
  launch_metrics const nothing;
  workload_times times(nothing);
  workload_id const id{{}, static_cast<shape_id>(1), {}};
  auto const workload = times.add(id, {.launches = 2, .ns = 20}, {.launches = 3, .ns = 15});
  CHECK(*times.undisturbed_mean(workload) == 10);
  workload_times longer(nothing);
  CHECK(*longer.undisturbed_mean(
            longer.add(id, {.launches = 4, .ns = 40}, {.launches = 3, .ns = 50})) == 10);
}

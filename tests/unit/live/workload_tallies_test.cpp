// SPDX-License-Identifier: Apache-2.0
#include "guest/live/workload_tallies.hpp"

#include "guest/live/live_metrics.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"
#include "support/trace_of.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

work_tally tally_in(workload_snapshot const& seen, std::string_view range) {
  work_tally all;
  auto const add = [&](std::uint32_t row, work_tally const& tally) {
    if (seen.range_names.at(row) != range) return;
    all.launches += tally.launches;
    all.slowed_launches += tally.slowed_launches;
    all.ns += tally.ns;
  };
  for (auto const& part : seen.sums.parts) add(part.range, part.tally);
  for (std::uint32_t row = 0; row < seen.range_names.size(); ++row) add(row, seen.sums.others[row]);
  return all;
}

void add_in_order(live_totals& totals, trace const& t) {
  for (auto const& shape : t.shapes) totals.add(shape);
  for (auto const& begin : t.begins) totals.add(begin);
  totals.add(t.kernels);
  for (auto const& end : t.ends) totals.add(end);
}

live_totals::capacity told_apart(workload_tallies::capacity limits = {}) {
  live_totals::capacity all;
  all.workloads = limits;
  return all;
}

}  // namespace

TEST_CASE("a launch that was slowed by counting is one in every range it is in") {
  auto const t = trace_of({range("outer", 0_us, 100_us), range("inner", 10_us, 50_us),
                           range("open", 0_us, 90_us).start_end(), kernel("k", 20_us, 25_us),
                           kernel("k", 30_us, 49_us), kernel("k", 60_us, 65_us)});
  live_totals totals(t.text(), told_apart());
  add_in_order(totals, t);
  totals.note_read(t.kernels[1], false, 19'000, true);
  auto const seen = totals.workloads();
  for (auto const* const name : {"outer", "open"}) {
    CHECK(tally_in(seen, name).launches == 3);
    CHECK(tally_in(seen, name).slowed_launches == 1);
    CHECK(tally_in(seen, name).ns == 10'000);
  }
  CHECK(tally_in(seen, "inner").ns == 5000);
  CHECK(*seen.sums.workloads.at(1).undisturbed_mean() == 5000);
  CHECK(seen.sums.workloads[1].time_of(tally_in(seen, "outer")) == 15'000);
}

TEST_CASE("launches that were read tell the mean only if all were read") {
  live_workload workload;
  workload.all = {.launches = 4, .slowed_launches = 1, .ns = 42};
  workload.slowed_ns = 30;
  workload.read_launches = 2;
  workload.read_ns = 42;
  CHECK(*workload.undisturbed_mean() == 15);
  workload.read_launches = 4;
  workload.read_ns = 72;
  CHECK(*workload.undisturbed_mean() == 14);
  workload.all = {.launches = 1, .slowed_launches = 1, .ns = 0};
  workload.slowed_ns = workload.read_ns = 30;
  workload.read_launches = 1;
  CHECK_FALSE(workload.undisturbed_mean());
  CHECK(workload.time_of(workload.all) == 30);
}

TEST_CASE("where there is no room, launches are in their range but not told apart") {
  auto const t = trace_of({range("r", 0_us, 100_us), kernel("a", 1_us, 2_us),
                           kernel("b", 2_us, 4_us), kernel("c", 4_us, 8_us)});
  for (auto const limits :
       {workload_tallies::capacity{.workloads = 1}, workload_tallies::capacity{.parts = 1}}) {
    live_totals totals(t.text(), told_apart(limits));
    add_in_order(totals, t);
    auto const seen = totals.workloads();
    CHECK(tally_in(seen, "r").launches == 3);
    CHECK(tally_in(seen, "r").ns == 7000);
    CHECK(seen.sums.parts.size() == 1);
    std::uint64_t launches = 0;
    for (auto const& workload : seen.sums.workloads) launches += workload.all.launches;
    CHECK(launches == 3);
  }
}

TEST_CASE("after the first of each workload and range, live metrics allocate nothing") {
  auto const t =
      trace_of({range("step", 0_us, 100_us), range("inner", 5_us, 90_us),
                range("open", 0_us, 90_us).start_end(), kernel("k", 10_us, 20_us),
                kernel("l", 30_us, 31_us), copy(copy_kind::host_to_device, 8, 1_us, 2_us)});
  live_totals totals(t.text(), told_apart());
  live_metrics live(t.text(), totals);
  record_sinks both({&totals, &live});
  auto const feed_all = [&] {
    for (auto const& begin : t.begins) both.add(begin);
    both.add(std::span<kernel_record const>(t.kernels));
    both.add(t.copies[0]);
    for (auto const& end : t.ends) both.add(end);
  };
  for (auto const& shape : t.shapes) both.add(shape);
  feed_all();
  auto const before = allocations();
  for (int i = 0; i < 1000; ++i) feed_all();
  CHECK(allocations() == before);
}

TEST_CASE(
    "more launches that were read than launches are a time that is not known, not a huge one") {
  live_workload workload;
  workload.all = {.launches = 2, .slowed_launches = 0, .ns = 20};
  workload.read_launches = 3;
  workload.read_ns = 15;
  CHECK(*workload.undisturbed_mean() == 10);
  workload.all = {.launches = 4, .slowed_launches = 0, .ns = 40};
  workload.read_ns = 50;
  CHECK(*workload.undisturbed_mean() == 10);
}

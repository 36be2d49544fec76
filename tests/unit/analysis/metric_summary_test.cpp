// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/metric_summary.hpp"

#include "host/report/summary_tables.hpp"
#include "support/analyzed.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// Two grids of one kernel: 10 and 14 bytes in two samples of three launches; 100 in one of two.
counted_trace two_grids() {
  std::vector<event> events = {range("half", 250'000_ns, 950'000_ns)};
  for (std::uint32_t i = 1; i <= 5; ++i)
    events.push_back(kernel("k", {100'000 * i}, {100'000 * i + 10'000})
                         .shaped({i > 3 ? 2u : 1u, 1, 1}, {32, 1, 1})
                         .correlated(i));
  events.push_back(kernel("never", 900_us, 901_us).correlated(6));
  counted_trace c(trace_of(std::move(events)));
  c.plan(0, {dram_read_metric, occupancy_metric});
  c.sample(1, 0, {{dram_read_metric, 10}, {occupancy_metric, 50}});
  c.sample(2, 0, {{dram_read_metric, 14}, {occupancy_metric, 50}});
  return c.sample(4, 0, {{dram_read_metric, 100}, {occupancy_metric, 25}});
}

std::string csv(text::table const& table) {
  std::string out;
  text::write_csv(table, {}, [&](std::string_view piece) { out += piece; });
  return out;
}

}  // namespace

TEST_CASE("the samples of a signature stand for all its launches") {
  auto const c = two_grids();
  analyzed const a(c);
  auto const rows = metrics_by_kernel(*a.figures, a.times, a.labels);
  REQUIRE(rows.size() == 2);  // the kernel that was never sampled has none
  CHECK(rows[0].metric == dram_read_metric);
  CHECK(rows[0].name == "k");
  CHECK(rows[0].launches == 5);
  CHECK(rows[0].samples == 3);
  CHECK(*rows[0].total == Approx(3 * 12 + 2 * 100));
  CHECK(rows[0].average == Approx(236 / 5.0));
  // 10, 14 and 100 about 41.33.
  CHECK(rows[0].deviation ==
        Approx(std::sqrt((31.3333 * 31.3333 + 27.3333 * 27.3333 + 58.6667 * 58.6667) / 2)));
  CHECK(rows[1].metric == occupancy_metric);
  CHECK(rows[1].average == Approx((3 * 50 + 2 * 25) / 5.0));
  CHECK_FALSE(rows[1].total);  // percentages do not add up
}

TEST_CASE("a range has the counts of the launches inside") {
  auto const c = two_grids();
  analyzed const a(c);
  auto const rows = metrics_by_range(*a.figures, a.times, a.ranges);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].instances == 1);
  CHECK(rows[0].launches == 3);  // the third of the first grid, both of the second
  CHECK(*rows[0].total == Approx(12 + 200));
  CHECK(rows[2].is_outside);
  CHECK(rows[2].launches == 2);
  CHECK(*rows[2].total == Approx(24));
  CHECK(csv(report::range_metric_table(rows, c.t.text()))
            .starts_with("NVTX Range,Style,NVTX Inst,Launches,Samples,Avg,StdDev,Total,Metric\n"
                         "half,PushPop,1,3,3,70.6666667,50.8461732,212,dram__bytes_read.sum\n"));
  CHECK(csv(report::range_metric_table(rows, c.t.text()))
            .find("\n[launched outside any range],,0,2,") != std::string::npos);
}

TEST_CASE("the report of kernels leaves totals empty if there are none") {
  auto const c = two_grids();
  analyzed const a(c);
  CHECK(csv(report::kernel_metric_table(metrics_by_kernel(*a.figures, a.times, a.labels))) ==
        "Launches,Samples,Avg,StdDev,Total,Metric,Name\n"
        "5,3,47.2,50.8461732,236,dram__bytes_read.sum,k\n"
        "5,3,40,14.4337567,,sm__warps_active.avg.pct_of_peak_sustained_active,k\n");
}

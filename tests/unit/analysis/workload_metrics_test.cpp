// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/workload_metrics.hpp"

#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <algorithm>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// Two grids of one tensor kernel: the first was counted around a launch before sampling began.
counted_trace half_counted(counted const& count) {
  std::vector<event> events = {kernel("mma", 10_us, 110_us).correlated(1)};
  for (std::uint32_t i = 0; i < 5; ++i)
    events.push_back(kernel("mma", {1'000'000 + i * 300'000}, {1'200'000 + i * 300'000})
                         .shaped({7, 1, 1}, {64, 1, 1})
                         .correlated(2 + i));
  counted_trace c(trace_of(std::move(events)));
  c.plan_roofline();
  c.sample(1, 0, count);
  auto with_tensor = c.samples.back();
  for (auto const& metric : c.metrics)
    if (metric.group == 1) {
      auto const found = count.find(std::string(c.t.names.text(metric.name)));
      c.values.push_back(
          {with_tensor.correlation, metric.metric, found == count.end() ? 0 : found->second});
    }
  for (auto const* const name : {tensor_cycles_metric, active_cycles_metric, dram_read_metric}) {
    c.plan(0, {name});
    c.metrics.back().sampled = true;
    for (std::uint64_t i = 0; i < 100; ++i) {
      timestamp_ns const start{trace_start.value + 900'000 + i * 20'000};
      bool const runs = i >= 5 && (i - 5) % 15 < 10;
      c.rows.push_back({c.metrics.back().metric, start, 20_us, runs ? 1000.0 : 0.0});
    }
  }
  return c;
}

}  // namespace

TEST_CASE("counts around launches are preferred to samples") {
  auto const c = half_counted({{dram_read_metric, 5}});
  analyzed const a(c);
  auto const counted_one = a.figures->find(a.workload_of(0), dram_read_metric);
  REQUIRE(counted_one);
  CHECK(counted_one->source == figure_source::exact);
  CHECK(counted_one->mean == 5);
  auto const sampled_one = a.figures->find(a.workload_of(1), dram_read_metric);
  REQUIRE(sampled_one);
  CHECK(sampled_one->source == figure_source::sampled);
  CHECK(sampled_one->mean == Approx(10'000));
  CHECK(a.figures->names().size() == a.metrics.names().size());
}

TEST_CASE("counts that reading a launch would change come from samples") {
  auto c = half_counted({{dram_read_metric, 5}});
  c.sample(2, 0, {{dram_read_metric, 6}});
  analyzed const a(c);
  auto const read = a.figures->find(a.workload_of(1), dram_read_metric);
  REQUIRE(read);
  CHECK(read->mean == 6);
  auto const in_run = a.figures->find_in_run(a.workload_of(1), dram_read_metric);
  REQUIRE(in_run);
  CHECK(in_run->source == figure_source::sampled);
  CHECK(in_run->mean == Approx(10'000));
  auto const read_alone = a.figures->find_in_run(a.workload_of(0), dram_read_metric);
  REQUIRE(read_alone);
  CHECK(read_alone->source == figure_source::exact);
}

TEST_CASE("tensor core cycles give FLOP if the same kernel was counted with another grid") {
  auto const c = half_counted({{tensor_cycles_metric, 500}, {tensor("bf16_dst_fp32"), 2e6}});
  auto const rows = analyzed(c).by_signature();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].source == flop_source::tensor_cycles);
  // 10,000 cycles of 4000 operations in 200 us.
  CHECK(*rows[0].total_flops == Approx(4e7 / 200e-6));
  CHECK(*rows[0].flops[static_cast<std::size_t>(precision::tensor_bf16)] == Approx(2e11));
  CHECK(rows[1].source == flop_source::tensor_counted);
}

TEST_CASE("FLOP from cycles have the errors of the cycles and of the rate") {
  auto const c = half_counted({{tensor_cycles_metric, 500}, {tensor("bf16_dst_fp32"), 2e6}});
  auto const rows = analyzed(c).by_signature();
  REQUIRE(rows.size() == 2);
  auto const bf16 = static_cast<std::size_t>(precision::tensor_bf16);
  REQUIRE(rows[0].total_flops_error);
  CHECK(*rows[0].total_flops_error > tensor_rate_error * *rows[0].total_flops);
  CHECK(*rows[0].total_flops_error < 2 * tensor_rate_error * *rows[0].total_flops);
  CHECK(*rows[0].flops_error[bf16] == Approx(*rows[0].total_flops_error));
  REQUIRE(rows[0].tensor_active_error);
  CHECK(*rows[0].tensor_active_error > 0);
  CHECK_FALSE(rows[1].total_flops_error);
  CHECK_FALSE(rows[1].flops_error[bf16]);
}

TEST_CASE("if operations of a type were counted, cycles do not add to them") {
  // Of the other grid bf16 alone was counted, so there is no total.
  auto c = half_counted({{tensor_cycles_metric, 500}, {tensor("bf16_dst_fp32"), 2e6}});
  c.with_peaks();
  c.plan(3, {tensor("bf16_dst_fp32"), clock_metric});
  auto const bf16 = std::find_if(c.metrics.begin(), c.metrics.end(), [&](auto const& metric) {
    return c.t.names.text(metric.name) == tensor("bf16_dst_fp32");
  });
  c.sample(3, 3, {{clock_metric, 2e9}});
  c.values[c.values.size() - 2] = {static_cast<correlation_id>(3), bf16->metric, 5e7};
  auto const rows = analyzed(c).by_signature();
  auto const p = static_cast<std::size_t>(precision::tensor_bf16);
  REQUIRE(rows[0].flops[p]);
  CHECK(*rows[0].flops[p] == Approx(5e7 / 200e-6));
  CHECK(*rows[0].shares[2 + p] == Approx(5e7 / 200e-6 / 800e12));
  CHECK(rows[0].source == flop_source::not_measured);
}

TEST_CASE("a kernel with two precisions gives no rate for cycles elsewhere") {
  auto const c = half_counted(
      {{tensor_cycles_metric, 500}, {tensor("bf16_dst_fp32"), 1e6}, {tensor("fp8"), 1e6}});
  auto const rows = analyzed(c).by_signature();
  CHECK(rows[0].source == flop_source::not_measured);
}

TEST_CASE("kernels with another name give no rate") {
  auto c = half_counted({{tensor_cycles_metric, 500}, {tensor("bf16_dst_fp32"), 2e6}});
  c.t.shapes[1].name = c.t.names.intern("other");
  auto const rows = analyzed(c).by_signature();
  CHECK(rows[0].name == "other");
  CHECK(rows[0].source == flop_source::not_measured);
}

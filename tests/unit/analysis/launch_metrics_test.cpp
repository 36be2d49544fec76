// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/metric_summary.hpp"
#include "host/analysis/slowed_launches.hpp"
#include "support/analyzed.hpp"
#include "support/catch.hpp"

#include <array>
#include <cmath>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

/// Three launches of one kernel; the second is sampled.
counted_trace one_sample(std::vector<event> beside = {}) {
  std::vector<event> events = {kernel("k", 10_us, 20_us).correlated(1),
                               kernel("k", 100_us, 110_us).correlated(2),
                               kernel("k", 200_us, 210_us).correlated(3)};
  events.insert(events.end(), beside.begin(), beside.end());
  counted_trace c(trace_of(std::move(events)));
  c.plan(0, {dram_read_metric}).sample(2, 0, {{dram_read_metric, 7e6}});
  return c;
}

}  // namespace

TEST_CASE("a sample belongs to the kernel with its correlation") {
  auto const c = one_sample();
  analyzed const a(c);
  CHECK(a.metrics.valid_samples() == 1);
  CHECK(a.metrics.discarded().all() == 0);
  auto const* const read = a.metrics.find(a.workload_of(1), dram_read_metric);
  REQUIRE(read != nullptr);
  CHECK(read->mean() == 7e6);
  CHECK(read->count() == 1);
  CHECK(a.metrics.find(a.workload_of(1), l2_metric) == nullptr);
}

TEST_CASE("a sample is not used if another kernel ran at the same time") {
  // The window is 95 us to 115 us; each of these shares a moment with it.
  for (auto const& other : {kernel("other", 90_us, 96_us), kernel("other", 114_us, 300_us),
                            kernel("other", 0_us, 500_us), kernel("other", 101_us, 102_us)}) {
    auto const c = one_sample({other.correlated(9)});
    analyzed const a(c);
    CHECK(a.metrics.valid_samples() == 0);
    CHECK(a.metrics.discarded().beside_kernels == 1);
    CHECK(a.metrics.find(a.workload_of(1), dram_read_metric) == nullptr);
  }
  auto const apart = one_sample({kernel("other", 80_us, 94_us).correlated(9)});
  CHECK(analyzed(apart).metrics.valid_samples() == 1);
}

TEST_CASE("a sample of a kernel whose grid was not recorded is not used for its other launches") {
  auto c = one_sample();
  for (auto& shape : c.t.shapes) shape.grid = shape.block = {};
  analyzed const a(c);
  CHECK(a.metrics.valid_samples() == 0);
  CHECK(a.metrics.discarded().mixed == 1);
}

TEST_CASE("a kernel days later with the id of a sampled launch does not belong to the sample") {
  constexpr duration_ns day{86'400'000'000'000};
  for (auto const& later : {kernel("other", day, day + 10_us), graph(day, day + 10_us)}) {
    auto const c = one_sample({event(later).correlated(2)});
    analyzed const a(c);
    CHECK(a.metrics.valid_samples() == 1);
    CHECK(a.metrics.discarded().all() == 0);
  }
}

TEST_CASE("work on another GPU does not matter") {
  auto c = one_sample({kernel("other", 90_us, 120_us).correlated(9)});
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) == 9) kernel.device = static_cast<device_id>(1);
  CHECK(analyzed(c).metrics.valid_samples() == 1);
}

TEST_CASE("a sample beside a copy, a fill or a whole graph is counted as discarded") {
  auto const copied = one_sample({copy(copy_kind::host_to_device, 100, 90_us, 120_us)});
  CHECK(analyzed(copied).metrics.discarded().beside_copies == 1);
  auto const filled = one_sample({fill(100, 90_us, 120_us)});
  CHECK(analyzed(filled).metrics.discarded().beside_copies == 1);
  auto const graphed = one_sample({graph(90_us, 120_us).correlated(9)});
  CHECK(analyzed(graphed).metrics.discarded().beside_kernels == 1);
}

TEST_CASE("a sample whose kernel is not in the capture is left out, and counted") {
  auto c = one_sample();
  c.sample(77, 0, {{dram_read_metric, 1}});
  analyzed const a(c);
  CHECK(a.metrics.samples() == 2);
  CHECK(a.metrics.discarded().without_kernel == 1);
}

TEST_CASE("a long window that began before short ones still finds its overlaps") {
  // Two windows, the first open until far beyond the second: work after both meets the first.
  auto c = one_sample({kernel("late", 400_us, 410_us).correlated(9)});
  c.sample(1, 0, {{dram_read_metric, 1}}, 5_us, 600_us);
  analyzed const a(c);
  CHECK(a.metrics.discarded().beside_kernels == 1);  // the long one; the other stays
  CHECK(a.metrics.valid_samples() == 1);
}

TEST_CASE("mean, spread and number of samples are kept by signature") {
  std::vector<event> events;
  for (std::uint32_t i = 0; i < 4; ++i)
    events.push_back(
        kernel("k", 100_us, 110_us).shaped({i == 3 ? 2u : 1u, 1, 1}, {32, 1, 1}).correlated(i + 1));
  for (std::uint32_t i = 0; i < 4; ++i) {
    events[i].start = {100'000 * (i + 1)};
    events[i].end = events[i].start + 10_us;
  }
  counted_trace c(trace_of(std::move(events)));
  c.plan(0, {dram_read_metric});
  c.sample(1, 0, {{dram_read_metric, 10}}).sample(2, 0, {{dram_read_metric, 12}});
  c.sample(3, 0, {{dram_read_metric, 17}}).sample(4, 0, {{dram_read_metric, 100}});
  analyzed const a(c);
  auto const* const values = a.metrics.find(a.workload_of(0), dram_read_metric);
  REQUIRE(values != nullptr);
  CHECK(values->count() == 3);
  CHECK(values->mean() == Approx(13));
  CHECK(values->deviation() == Approx(std::sqrt(13.0)));  // (9 + 1 + 16) / 2
  CHECK(a.metrics.find(a.workload_of(3), dram_read_metric)->mean() == 100);
  CHECK(a.metrics.find(a.workload_of(3), dram_read_metric)->deviation() == 0);
}

TEST_CASE("a rewritten kernel gives only the counts for which it was rewritten") {
  counted_trace c(trace_of({kernel("k", 10_us, 50_us).correlated(1)}));
  c.plan(0, {sass("ffma")}).plan(0, {dram_read_metric});
  c.sample(1, 0, {{sass("ffma"), 5}, {dram_read_metric, 6}});
  analyzed const a(c);
  CHECK(a.metrics.sampling_of(static_cast<correlation_id>(1)) == sampling::slowed);
  CHECK(a.metrics.find(a.workload_of(0), sass("ffma"))->mean() == 5);
  CHECK(a.metrics.find(a.workload_of(0), dram_read_metric) == nullptr);
}

TEST_CASE("durations come from launches that were not sampled, if there are any") {
  auto const c = one_sample();
  analyzed const a(c);
  CHECK(*a.times.undisturbed_mean(0) == 10'000);
  counted_trace all(trace_of(
      {kernel("k", 10_us, 20_us).correlated(1), kernel("k", 100_us, 190_us).correlated(2)}));
  all.plan(0, {dram_read_metric}).plan(1, {sass("ffma")});
  all.sample(1, 0, {}).sample(2, 1, {});
  CHECK(*analyzed(all).times.undisturbed_mean(0) == 10'000);  // never the slowed one
  counted_trace slowed(trace_of({kernel("k", 10_us, 20_us).correlated(1)}));
  slowed.plan(1, {sass("ffma")}).sample(1, 1, {{sass("ffma"), 100}});
  analyzed const only(slowed);
  CHECK_FALSE(only.times.undisturbed_mean(0));
  CHECK(only.by_kernel()[0].total_ns == 10'000);
  CHECK_FALSE(only.by_kernel()[0].flops[static_cast<std::size_t>(precision::fp32)]);
}

namespace {

/// Three launches of a graph of the kernels a and b, 10 us each, and a once more on its own.
counted_trace graph_of_two(std::vector<event> more = {}) {
  std::vector<event> events = std::move(more);
  for (std::uint32_t launch = 1; launch <= 3; ++launch)
    for (auto const* const name : {"a", "b"}) {
      duration_ns const start{100'000 * launch + (name[0] == 'b' ? 10'000 : 0)};
      events.push_back(kernel(name, start, start + 10_us).correlated(launch));
    }
  events.push_back(kernel("a", 900_us, 930_us).correlated(9));  // alone
  counted_trace c(trace_of(std::move(events)));
  auto const put_in = [](auto& records) {
    for (auto& record : records)
      if (raw(record.correlation) <= 3) record.graph = static_cast<graph_id>(5);
  };
  put_in(c.t.kernels);
  put_in(c.t.copies);
  put_in(c.t.fills);
  c.plan_roofline();
  return c;
}

/// Counters around the whole launch.
void read_graph(counted_trace& c, std::uint32_t launch, std::uint16_t group, counted const& count) {
  c.sample(launch, group, count);
  c.samples.back().opened = trace_start + duration_ns{100'000 * launch - 5000};
  c.samples.back().closed = trace_start + duration_ns{100'000 * launch + 45'000};
}

}  // namespace

TEST_CASE("counts around a graph belong to the graph, and its kernels have lines of their own") {
  auto c = graph_of_two();
  read_graph(c, 1, 1, {{tensor("tf32_dst_fp32"), 4e9}});
  analyzed const a(c);
  CHECK(a.metrics.valid_samples() == 1);
  auto const kernels = a.by_kernel();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "a");  // inside the graph and outside
  CHECK(kernels[0].launches == 4);
  CHECK(kernels[0].total_ns == 60'000);
  CHECK(kernels[1].name == "b");
  CHECK(kernels[1].total_ns == 30'000);
  CHECK_FALSE(kernels[1].total_flops);
  CHECK(a.roofs().gpu_ns() == 90'000);  // the graph's time is that of its kernels
  auto const graphs = a.roofs().by_graph(a.labels);
  REQUIRE(graphs.size() == 1);
  CHECK(graphs[0].name == "[CUDA graph 5]");
  CHECK(graphs[0].launches == 3);
  CHECK(*graphs[0].mean_ns == 20'000);  // both kernels
  CHECK(*graphs[0].total_flops == Approx(4e9 / 20e-6));
}

TEST_CASE("copies and fills of a graph belong to its counts, those of others do not") {
  auto const own = [](event e) { return e.correlated(1); };
  auto c = graph_of_two({own(copy(copy_kind::device_to_device, 1000, 120_us, 125_us)),
                         own(fill(1000, 126_us, 127_us))});
  read_graph(c, 1, 0, {{dram_read_metric, 6e6}});
  analyzed const a(c);
  CHECK(a.metrics.valid_samples() == 1);
  CHECK(a.metrics.has_copies({{}, {}, static_cast<graph_id>(5)}));
  auto other =
      graph_of_two({copy(copy_kind::device_to_device, 1000, 120_us, 125_us).correlated(7)});
  read_graph(other, 1, 0, {{dram_read_metric, 6e6}});
  CHECK(analyzed(other).metrics.discarded().beside_copies == 1);
}

namespace {

using workload_sums = std::vector<std::array<std::uint64_t, 4>>;  // line, workload, launches, ns

/// The work of each range; readings are joined before the work is added, or after.
workload_sums sums_in_ranges(counted_trace const& c, bool joins_first) {
  launch_metrics metrics;
  for (auto const& metric : c.metrics) metrics.define(metric, c.t.text()(metric.name));
  for (auto const& sample : c.samples) metrics.add(sample);
  for (auto const& kernel : c.t.kernels) metrics.see(kernel);
  if (joins_first) metrics.join();
  range_tree const tree(c.t.begins, c.t.ends, c.t.last);
  open_ranges const open(tree);
  launch_ranges const launched(tree, range_scope::process, static_cast<thread_index>(1));
  workload_times times(metrics);
  range_workloads work(tree, open, launched, {});
  for (auto const& kernel : c.t.kernels) work.add(kernel, times.add(kernel));
  if (!joins_first) {
    metrics.join();
    work.decide(metrics, times);
  }
  workload_sums sums;
  for (std::uint64_t line = 0; auto const& row : work.rows()) {
    for (auto const& [workload, tally] : row.workloads)
      sums.push_back({line, workload, tally.launches, tally.ns});
    ++line;
  }
  return sums;
}

/// The first two launches of the graph are inside of a range, the third is outside.
counted_trace graph_in_a_range() {
  auto c = graph_of_two({range("step", 0_us, 290_us)});
  for (auto& kernel : c.t.kernels) {
    auto const is_inside = raw(kernel.correlation) <= 2;
    kernel.range = is_inside ? c.t.id_of("step") : range_id{};
    kernel.launched = trace_start + (is_inside ? 1_us : 295_us);
  }
  return c;
}

}  // namespace

TEST_CASE("a graph counts in ranges as a whole only if it was read, even if that is known late") {
  auto c = graph_in_a_range();
  auto const as_kernels =
      workload_sums{{0, 0, 2, 20'000}, {0, 2, 2, 20'000}, {1, 0, 2, 40'000}, {1, 2, 1, 10'000}};
  auto const as_graph = workload_sums{{0, 1, 2, 40'000}, {1, 0, 1, 30'000}, {1, 1, 1, 20'000}};
  SECTION("around the graph") {
    read_graph(c, 1, 1, {{tensor("tf32_dst_fp32"), 4e9}});
    CHECK(sums_in_ranges(c, true) == as_graph);
    CHECK(sums_in_ranges(c, false) == as_graph);
  }
  SECTION("around a kernel alone") {
    c.sample(9, 0, {{dram_read_metric, 5e6}});
    CHECK(sums_in_ranges(c, true) == as_kernels);
    CHECK(sums_in_ranges(c, false) == as_kernels);
  }
}

TEST_CASE("a graph with one kernel and a copy is not treated as that kernel") {
  counted_trace c(trace_of({kernel("a", 10_us, 20_us).correlated(1),
                            copy(copy_kind::device_to_device, 1000, 20_us, 22_us).correlated(1)}));
  c.t.kernels[0].graph = static_cast<graph_id>(5);
  c.t.copies[0].graph = static_cast<graph_id>(5);
  c.plan(0, {dram_read_metric}).sample(1, 0, {{dram_read_metric, 8e6}});
  analyzed const a(c);
  CHECK(a.metrics.valid_samples() == 1);
  CHECK(a.metrics.find(a.workload_of(0), dram_read_metric) == nullptr);
  CHECK(a.metrics.find({{}, {}, static_cast<graph_id>(5)}, dram_read_metric)->mean() == 8e6);
}

TEST_CASE("counts of a kernel outside a graph are used for its launches inside") {
  auto c = graph_of_two();
  c.sample(9, 0, {{dram_read_metric, 5e6}});
  analyzed const a(c);
  // Four launches, 60 us in all, of which that of 30 us was read and takes no part in the mean.
  CHECK(*a.by_kernel()[0].dram_rate == Approx(5e6 / 10e-6));
}

namespace {

/// The kernel a, launched outside the graph with these arguments, for so long; it was read once.
counted_trace warmed_up(std::vector<std::uint32_t> const& arguments, duration_ns length) {
  std::vector<event> events;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto const start = 1_ms + duration_ns{100'000 * static_cast<int>(i)};
    events.push_back(kernel("a", start, start + length).correlated(20 + static_cast<unsigned>(i)));
  }
  auto c = graph_of_two(events);
  std::erase_if(c.t.kernels, [](auto const& k) { return raw(k.correlation) == 9; });
  for (auto& kernel : c.t.kernels) {
    if (raw(kernel.correlation) < 20) continue;
    auto shape = c.t.shapes[raw(kernel.shape) - 1];
    shape.id = static_cast<shape_id>(c.t.shapes.size() + 1);
    shape.arguments = arguments[raw(kernel.correlation) - 20];
    for (auto const& known : c.t.shapes)
      if (known.arguments == shape.arguments) shape.id = known.id;
    kernel.shape = shape.id;
    if (raw(shape.id) > c.t.shapes.size()) c.t.shapes.push_back(shape);
  }
  c.sample(20, 0, {{dram_read_metric, 5e6}}).sample(21, 1, {{tensor("fp16"), 1e9}});
  return c;
}

bool holds_inside(counted_trace const& c) {
  analyzed const a(c);
  auto const inside = a.workload_of(0);
  REQUIRE(raw(c.t.kernels[0].graph) == 5);
  return a.figures->find(inside, dram_read_metric).has_value();
}

}  // namespace

TEST_CASE(
    "counts from outside are used inside a graph if the kernel always had the same arguments") {
  auto const c = warmed_up({77, 77, 77}, 11_us);
  REQUIRE(holds_inside(c));
  analyzed const a(c);
  CHECK(a.figures->find(a.workload_of(0), dram_read_metric)->mean == 5e6);
  auto const rows = metrics_by_kernel(*a.figures, a.times, a.labels);
  CHECK(std::any_of(rows.begin(), rows.end(), [](metric_row const& row) {
    return row.metric == dram_read_metric && row.name == "a" && row.launches == 6;
  }));
}

TEST_CASE("counts are not used inside a graph if a kernel's arguments or time may differ") {
  CHECK_FALSE(holds_inside(warmed_up({77, 77, 78}, 11_us)));  // one of them was another
  CHECK_FALSE(holds_inside(warmed_up({1, 1, 1}, 11_us)));     // too many to tell apart
  CHECK_FALSE(holds_inside(warmed_up({77, 77, 77}, 15_us)));  // it takes 10 us inside
}

TEST_CASE("fully counted kernels of a graph are preferred to a partly counted graph") {
  auto c = graph_of_two({range("step", 0_us, 800_us), kernel("b", 950_us, 960_us).correlated(10),
                         kernel("a", 1000_us, 1010_us).correlated(11),
                         kernel("b", 1050_us, 1060_us).correlated(12)});
  read_graph(c, 1, 1, {{tensor("fp16"), 1e6}});
  auto const in_part = analyzed(c).by_range();
  CHECK(row_named(in_part, "step")->source == flop_source::tensor_counted);
  c.sample(9, 1, {}).sample(10, 1, {});
  c.sample(11, 2, {{sass("fadd"), 1e6}}).sample(12, 2, {{sass("fadd"), 3e6}});
  auto const in_full = analyzed(c).by_range();
  CHECK(row_named(in_full, "step")->source == flop_source::counted);
  CHECK(*row_named(in_full, "step")->total_flops == Approx(4e6 / 20e-6));
}

TEST_CASE("a graph shows how much the sum of its kernels exceeds its own count") {
  auto c = graph_of_two({kernel("b", 950_us, 960_us).correlated(10)});
  read_graph(c, 1, 0, {{dram_read_metric, 10e6}, {tensor_cycles_metric, 1000}});
  c.sample(9, 0, {{dram_read_metric, 5e6}, {tensor_cycles_metric, 400}});
  c.sample(10, 0, {{dram_read_metric, 6e6}, {tensor_cycles_metric, 500}});
  analyzed const a(c);
  auto const graph = a.roofs().by_graph(a.labels)[0];
  CHECK(*graph.nodes.dram == Approx(0.1));
  CHECK(*graph.nodes.tensor_cycles == Approx(-0.1));
  CHECK_FALSE(graph.nodes.l2);  // none was counted
}

TEST_CASE("a graph that was not read is the sum of its kernels, without a comparison") {
  auto c = graph_of_two({kernel("b", 950_us, 960_us).correlated(10)});
  c.sample(9, 0, {{dram_read_metric, 5e6}}).sample(10, 0, {{dram_read_metric, 6e6}});
  analyzed const a(c);
  auto const graph = a.roofs().by_graph(a.labels)[0];
  CHECK(graph.launches == 3);
  CHECK(*graph.mean_ns == 20'000);
  CHECK(*graph.dram_rate == Approx(11e6 / 20e-6));
  CHECK_FALSE(graph.nodes.dram);
}

TEST_CASE("a range with launches of a graph has the counts around the graph") {
  auto c = graph_of_two({range("step", 0_us, 800_us)});
  read_graph(c, 1, 1, {{tensor("tf32_dst_fp32"), 4e9}});
  read_graph(c, 2, 2, {});
  auto const rows = analyzed(c).by_range();
  auto const& step = *row_named(rows, "step");
  CHECK(step.launches == 3);
  CHECK(step.total_ns == 60'000);
  CHECK(*step.total_flops == Approx(4e9 / 20e-6));
}

TEST_CASE("a range with launches of a graph that was not read has the counts of its kernels") {
  auto c = graph_of_two({range("step", 0_us, 800_us)});
  c.sample(9, 0, {{dram_read_metric, 5e6}});
  auto const rows = analyzed(c).by_range();
  auto const& step = *row_named(rows, "step");
  CHECK(step.launches == 6);
  CHECK(step.total_ns == 60'000);
  CHECK(*step.dram_rate == Approx(5e6 / 10e-6));  // of a; b is not known
}

TEST_CASE("launches of one reading are one sample, and each of them can spoil it") {
  // Two passes; the values come with the last.
  auto const reading_of = [](std::vector<std::uint32_t> const& launches,
                             std::vector<event> beside) {
    auto c = one_sample(std::move(beside));
    c.samples.clear();
    c.values.clear();
    for (auto const launch : launches) {
      c.sample(launch, 0, {{dram_read_metric, 7e6}});
      if (launch != launches.back()) c.values.clear();
      c.samples.back().reading = 4;
    }
    return c;
  };
  auto const whole = reading_of({1, 2}, {});
  analyzed const a(whole);
  CHECK(a.metrics.samples() == 1);
  CHECK(a.metrics.sampled_launches() == 2);
  CHECK(a.metrics.valid_samples() == 1);
  CHECK(a.metrics.samples_of(a.workload_of(0)) == 1);
  CHECK(a.metrics.find(a.workload_of(0), dram_read_metric)->mean() == 7e6);

  auto const beside = reading_of({1, 2}, {kernel("other", 12_us, 13_us).correlated(9)});
  CHECK(analyzed(beside).metrics.discarded().beside_kernels == 1);
  CHECK(analyzed(beside).metrics.valid_samples() == 0);

  auto const mixed = reading_of({1, 9}, {kernel("other", 400_us, 410_us).correlated(9)});
  CHECK(analyzed(mixed).metrics.discarded().mixed == 1);
  CHECK(analyzed(mixed).metrics.valid_samples() == 0);
}

TEST_CASE("several kernels with one correlation but no graph are not one launch") {
  counted_trace c(
      trace_of({kernel("a", 10_us, 20_us).correlated(1), kernel("b", 20_us, 30_us).correlated(1)}));
  c.plan(0, {dram_read_metric}).sample(1, 0, {{dram_read_metric, 1}});
  CHECK(analyzed(c).metrics.valid_samples() == 0);
}

TEST_CASE("values without a sample or metric are skipped") {
  auto c = one_sample();
  c.values.push_back({static_cast<correlation_id>(55), static_cast<metric_id>(1), 3});
  c.values.push_back({static_cast<correlation_id>(2), static_cast<metric_id>(99), 3});
  c.values.push_back({static_cast<correlation_id>(2), static_cast<metric_id>(1), NAN});
  analyzed const a(c);
  CHECK(a.metrics.find(a.workload_of(1), dram_read_metric)->count() == 1);
}

namespace {

kernel_record launch_of(std::uint32_t correlation, std::int64_t ns) {
  kernel_record made;
  made.correlation = static_cast<correlation_id>(correlation);
  made.shape = shape_id{1};
  made.duration = {ns};
  return made;
}

/// `others` launches of 1000 ns to 1003 ns, and one that was read.
slowed_launches with_one_read(std::uint32_t others, bool is_rewritten, kernel_record const& read) {
  slowed_launches slowed;
  slowed.define({.metric = metric_id{1}, .patches_kernel = is_rewritten}, "a_metric.sum");
  read_launch_record sample;
  sample.correlation = read.correlation;
  slowed.add(sample);
  slowed.see(read);
  for (std::uint32_t i = 0; i < others; ++i) slowed.see(launch_of(100 + i, 1000 + i % 4));
  return slowed;
}

}  // namespace

TEST_CASE("a read launch that took longer than all others gets their mean duration") {
  auto const longer = launch_of(7, 2330), usual = launch_of(7, 1002);
  CHECK(with_one_read(8, false, longer).undisturbed(longer) == duration_ns{1002});
  CHECK_FALSE(with_one_read(8, false, usual).undisturbed(usual));
  CHECK_FALSE(with_one_read(8, false, longer).undisturbed(launch_of(100, 2330)));  // not read
  CHECK_FALSE(with_one_read(3, false, longer).undisturbed(longer));  // the others are too few
}

TEST_CASE(
    "a kernel during the setup of sampling that took longer than all others gets their mean "
    "duration") {
  auto const ran = [](std::uint64_t start, std::int64_t ns, std::uint32_t device = 0) {
    auto made = launch_of(9, ns);  // all in one graph
    made.start = {start};
    made.device = device_id{device};
    return made;
  };
  slowed_launches slowed;
  slowed.add(pause_record{device_id{0}, {5'000}, {2'000}});
  auto const inside = ran(5'500, 2330), over_its_begin = ran(3'000, 2330),
             before = ran(2'000, 2330), usual = ran(5'500, 1002), elsewhere = ran(5'500, 2330, 1);
  for (auto const& one : {inside, over_its_begin, usual}) slowed.see(one);
  CHECK_FALSE(slowed.undisturbed(inside));  // nothing is known of others
  for (std::uint64_t i = 0; i < 12; ++i) slowed.see(ran(10'000 * (i + 1), 1000 + i % 4));
  CHECK(slowed.undisturbed(inside) == duration_ns{1002});
  CHECK(slowed.undisturbed(over_its_begin) == duration_ns{1002});
  for (auto const& one : {before, usual, elsewhere}) CHECK_FALSE(slowed.undisturbed(one));
}

TEST_CASE(
    "a launch before counters were set up is compared with later launches of equal arguments") {
  auto const shape = [](std::uint32_t id, std::uint32_t arguments) {
    kernel_shape made;
    made.id = shape_id{id};
    made.name = name_id{5};
    made.grid = made.block = {32, 1, 1};
    made.arguments = arguments;
    return made;
  };
  auto const mean_of_early = [](std::vector<kernel_shape> const& shapes) {
    slowed_launches slowed;
    slowed.add(pause_record{device_id{0}, {5'000}, {2'000}});
    for (auto const& one : shapes) slowed.define(one);
    auto early = launch_of(9, 2330);
    early.start = {5'500};
    slowed.see(early);
    for (std::uint32_t i = 0; i < 12; ++i) {
      auto late = launch_of(100 + i, 1000 + i % 4);
      late.shape = shape_id{2};
      late.start = {10'000 * (i + 1)};
      slowed.see(late);
    }
    return slowed.undisturbed(early);
  };
  CHECK(mean_of_early({shape(1, arguments_not_looked_at), shape(2, 77)}) == duration_ns{1002});
  CHECK(mean_of_early({shape(2, 77), shape(1, arguments_not_looked_at)}) == duration_ns{1002});
  CHECK_FALSE(mean_of_early({shape(1, arguments_not_looked_at), shape(2, 77), shape(3, 78)}));
  CHECK_FALSE(
      mean_of_early({shape(1, arguments_not_looked_at), shape(2, arguments_of_many_values)}));
  CHECK_FALSE(mean_of_early({shape(1, 76), shape(2, 77)}));
  auto wider = shape(2, 77);
  wider.grid.x = 64;
  CHECK_FALSE(mean_of_early({shape(1, arguments_not_looked_at), wider}));
}

TEST_CASE("a launch with a rewritten kernel always gets the mean duration of the others") {
  for (auto const ns : {900, 1002, 2330}) {
    auto const read = launch_of(7, ns);
    CHECK(with_one_read(8, true, read).undisturbed(read) == duration_ns{1002});
    CHECK_FALSE(with_one_read(0, true, read).undisturbed(read));
  }
}

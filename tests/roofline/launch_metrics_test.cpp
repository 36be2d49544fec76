#include "roofline/counted_trace.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace gpuprof;
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
  analysed const a(c);
  CHECK(a.metrics.valid_samples() == 1);
  CHECK(a.metrics.discarded().all() == 0);
  auto const* const read = a.metrics.find(a.workload_of(1), dram_read_metric);
  REQUIRE(read != nullptr);
  CHECK(read->mean() == 7e6);
  CHECK(read->count() == 1);
  CHECK(a.metrics.find(a.workload_of(1), l2_metric) == nullptr);
}

TEST_CASE("a sample beside which another kernel ran tells nothing") {
  // The window is 95 us to 115 us; each of these shares a moment with it.
  for (auto const& other : {kernel("other", 90_us, 96_us), kernel("other", 114_us, 300_us),
                            kernel("other", 0_us, 500_us), kernel("other", 101_us, 102_us)}) {
    auto const c = one_sample({other.correlated(9)});
    analysed const a(c);
    CHECK(a.metrics.valid_samples() == 0);
    CHECK(a.metrics.discarded().beside_kernels == 1);
    CHECK(a.metrics.find(a.workload_of(1), dram_read_metric) == nullptr);
  }
  auto const apart = one_sample({kernel("other", 80_us, 94_us).correlated(9)});
  CHECK(analysed(apart).metrics.valid_samples() == 1);
}

TEST_CASE("work on another GPU does not matter") {
  auto c = one_sample({kernel("other", 90_us, 120_us).correlated(9)});
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) == 9) kernel.device = static_cast<device_id>(1);
  CHECK(analysed(c).metrics.valid_samples() == 1);
}

TEST_CASE("a copy, a fill or a whole graph beside a sample is counted with it") {
  auto const copied = one_sample({copy(copy_kind::host_to_device, 100, 90_us, 120_us)});
  CHECK(analysed(copied).metrics.discarded().beside_copies == 1);
  auto const filled = one_sample({fill(100, 90_us, 120_us)});
  CHECK(analysed(filled).metrics.discarded().beside_copies == 1);
  auto const graphed = one_sample({graph(90_us, 120_us).correlated(9)});
  CHECK(analysed(graphed).metrics.discarded().beside_kernels == 1);
}

TEST_CASE("a sample whose kernel is not in the capture is left out, and counted") {
  auto c = one_sample();
  c.sample(77, 0, {{dram_read_metric, 1}});
  analysed const a(c);
  CHECK(a.metrics.samples() == 2);
  CHECK(a.metrics.discarded().without_kernel == 1);
}

TEST_CASE("samples of long windows before short ones are found") {
  // Two windows, the first open until far beyond the second: work after both meets the first.
  auto c = one_sample({kernel("late", 400_us, 410_us).correlated(9)});
  c.sample(1, 0, {{dram_read_metric, 1}}, 5_us, 600_us);
  analysed const a(c);
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
  analysed const a(c);
  auto const* const values = a.metrics.find(a.workload_of(0), dram_read_metric);
  REQUIRE(values != nullptr);
  CHECK(values->count() == 3);
  CHECK(values->mean() == Approx(13));
  CHECK(values->deviation() == Approx(std::sqrt(13.0)));  // (9 + 1 + 16) / 2
  CHECK(a.metrics.find(a.workload_of(3), dram_read_metric)->mean() == 100);
  CHECK(a.metrics.find(a.workload_of(3), dram_read_metric)->deviation() == 0);
}

TEST_CASE("a rewritten kernel tells what it was rewritten to count, and nothing else") {
  counted_trace c(trace_of({kernel("k", 10_us, 50_us).correlated(1)}));
  c.plan(0, {sass("ffma")}).plan(0, {dram_read_metric});
  c.sample(1, 0, {{sass("ffma"), 5}, {dram_read_metric, 6}});
  analysed const a(c);
  CHECK(a.metrics.sampling_of(static_cast<correlation_id>(1)) == sampling::slowed);
  CHECK(a.metrics.find(a.workload_of(0), sass("ffma"))->mean() == 5);
  CHECK(a.metrics.find(a.workload_of(0), dram_read_metric) == nullptr);
}

TEST_CASE("durations come from launches that were not sampled, where there are any") {
  auto const c = one_sample();
  analysed const a(c);
  CHECK(*a.times.undisturbed_mean(0) == 10'000);
  counted_trace all(trace_of(
      {kernel("k", 10_us, 20_us).correlated(1), kernel("k", 100_us, 190_us).correlated(2)}));
  all.plan(0, {dram_read_metric}).plan(1, {sass("ffma")});
  all.sample(1, 0, {}).sample(2, 1, {});
  CHECK(*analysed(all).times.undisturbed_mean(0) == 10'000);  // never the slowed one
  counted_trace slowed(trace_of({kernel("k", 10_us, 20_us).correlated(1)}));
  slowed.plan(1, {sass("ffma")}).sample(1, 1, {{sass("ffma"), 100}});
  analysed const only(slowed);
  CHECK_FALSE(only.times.undisturbed_mean(0));
  CHECK(only.by_kernel()[0].total_ns == 10'000);
  CHECK_FALSE(only.by_kernel()[0].flops[static_cast<std::size_t>(precision::fp32)]);
}

TEST_CASE("a sampled graph of several kernels is one workload, its other launches too") {
  std::vector<event> events;
  for (std::uint32_t launch = 1; launch <= 3; ++launch)
    for (auto const* const name : {"a", "b"}) {
      duration_ns const start{100'000 * launch + (name[0] == 'b' ? 10'000 : 0)};
      events.push_back(kernel(name, start, start + 10_us).correlated(launch));
    }
  events.push_back(kernel("a", 900_us, 930_us).correlated(9));  // alone
  counted_trace c(trace_of(std::move(events)));
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) != 9) kernel.graph = static_cast<graph_id>(5);
  c.plan_roofline();
  c.sample(1, 1, {{tensor("tf32_dst_fp32"), 4e9}}).sample(2, 2, {});
  c.samples[0].opened = trace_start + 95_us, c.samples[0].closed = trace_start + 125_us;
  c.samples[1].opened = trace_start + 195_us, c.samples[1].closed = trace_start + 225_us;
  analysed const a(c);
  CHECK(a.metrics.valid_samples() == 2);
  auto const rows = a.by_kernel();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "[CUDA graph 5]");
  CHECK(rows[0].launches == 3);
  CHECK(*rows[0].mean_ns == 20'000);  // both kernels
  CHECK(*rows[0].total_flops == Approx(4e9 / 20e-6));
  CHECK(rows[1].name == "a");  // outside the graph it is a kernel like others
  CHECK(rows[1].launches == 1);
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
  analysed const a(whole);
  CHECK(a.metrics.samples() == 1);
  CHECK(a.metrics.sampled_launches() == 2);
  CHECK(a.metrics.valid_samples() == 1);
  CHECK(a.metrics.samples_of(a.workload_of(0)) == 1);
  CHECK(a.metrics.find(a.workload_of(0), dram_read_metric)->mean() == 7e6);

  auto const beside = reading_of({1, 2}, {kernel("other", 12_us, 13_us).correlated(9)});
  CHECK(analysed(beside).metrics.discarded().beside_kernels == 1);
  CHECK(analysed(beside).metrics.valid_samples() == 0);

  auto const mixed = reading_of({1, 9}, {kernel("other", 400_us, 410_us).correlated(9)});
  CHECK(analysed(mixed).metrics.discarded().mixed == 1);
  CHECK(analysed(mixed).metrics.valid_samples() == 0);
}

TEST_CASE("several kernels with one correlation that no graph explains are not one launch") {
  counted_trace c(
      trace_of({kernel("a", 10_us, 20_us).correlated(1), kernel("b", 20_us, 30_us).correlated(1)}));
  c.plan(0, {dram_read_metric}).sample(1, 0, {{dram_read_metric, 1}});
  CHECK(analysed(c).metrics.valid_samples() == 0);
}

TEST_CASE("values that no sample or metric explains are passed over") {
  auto c = one_sample();
  c.values.push_back({static_cast<correlation_id>(55), static_cast<metric_id>(1), 3});
  c.values.push_back({static_cast<correlation_id>(2), static_cast<metric_id>(99), 3});
  c.values.push_back({static_cast<correlation_id>(2), static_cast<metric_id>(1), NAN});
  analysed const a(c);
  CHECK(a.metrics.find(a.workload_of(1), dram_read_metric)->count() == 1);
}

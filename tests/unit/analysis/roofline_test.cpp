// SPDX-License-Identifier: Apache-2.0
#include "support/analyzed.hpp"
#include "support/catch.hpp"

#include <map>
#include <string>

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

constexpr auto bf16 = static_cast<std::size_t>(precision::tensor_bf16);
constexpr auto fp32 = static_cast<std::size_t>(precision::fp32);

Approx near(double value) {
  return Approx(value).epsilon(1e-9);
}

}  // namespace

TEST_CASE("rates of a kernel are its counted work divided by its undisturbed duration") {
  auto const step = counted_step();
  auto const rows = analyzed(step).by_kernel();
  REQUIRE(rows.size() == 5);
  auto const& gemm = rows[0];  // the longest
  CHECK(gemm.name == "gemm(__nv_bfloat16 const*, __nv_bfloat16 const*, float*, int)");
  CHECK(gemm.launches == 6);
  CHECK(gemm.samples == 3);
  CHECK(*gemm.mean_ns == near(100e3));
  CHECK(*gemm.total_flops == near(4e10 / 100e-6));  // 400 TFLOP/s
  CHECK(*gemm.flops[bf16] == near(400e12));
  CHECK(*gemm.flops[fp32] == 0);
  CHECK(gemm.source == flop_source::counted);
  CHECK(gemm.exact_share == near(1));
  CHECK(*gemm.dram_rate == near(80e6 / 100e-6));
  CHECK(*gemm.l2_rate == near(200e6 / 100e-6));
  CHECK(*gemm.intensity == near(500));  // 4e10 FLOP per 80 MB
  CHECK(*gemm.l2_intensity == near(200));
  CHECK(*gemm.clock == near(1.6e9));
  CHECK(*gemm.occupancy == near(0.25));
  CHECK(*gemm.tensor_active == near(0.175));  // 105 thousand cycles of four parts, of 150
}

TEST_CASE("a launch that was slowed by counting takes as long as the others in all sums") {
  auto const step = counted_step();
  analyzed const a(step);
  auto const rows = a.by_kernel();
  // gemm 6 x 100 us, copy 5 x 50, axpy 5 x 20, tiny 5 x 2, unknown 30.
  CHECK(a.roofs().gpu_ns() == near(990e3));
  CHECK(row_named(rows, "axpy")->total_ns == near(100e3));
  CHECK(rows[0].total_ns == near(600e3));
  CHECK(rows[0].time_share == near(600. / 990));
  CHECK(a.roofs().exact_share() == near(960. / 990));
}

TEST_CASE("shares refer to the measured peak at the clock of the kernel") {
  auto const step = counted_step().with_peaks();
  auto const rows = analyzed(step).by_kernel();
  auto const& gemm = rows[0];
  // 400 TFLOP/s of 100 SMs x 1.6 GHz x 4000 FLOP.
  CHECK(*gemm.shares[2 + bf16] == near(0.625));
  // A quarter of the traffic is written: the triad is nearest, 3.8 TB/s.
  CHECK(*gemm.shares[0] == near(0.8 / 3.8));
  // 2 TB/s of 100 SMs x 1.6 GHz x 40 B.
  CHECK(*gemm.shares[1] == near(2 / 8.0));
  CHECK(*gemm.clock_loss == near(0.2));
  CHECK(name_of(gemm.bound) == "tensor BF16");
  CHECK(*gemm.of_roof == near(0.625));
  CHECK(*gemm.to_roof_ns == near(37.5e3));
  CHECK(*gemm.below_roof == near(600 * 0.375 / 990));

  auto const& copy = *row_named(rows, "copy");
  CHECK(*copy.shares[0] == near(1));  // 180 MB in 50 us are all of dram_copy's 3.6 TB/s
  CHECK(name_of(copy.bound) == "DRAM");
  CHECK(*copy.below_roof == near(0));
  CHECK(*copy.total_flops == 0);
  CHECK(copy.source == flop_source::counted);

  auto const& axpy = *row_named(rows, "axpy");
  CHECK(*axpy.total_flops == near(2.1e7 / 20e-6));  // an FMA is two
  CHECK(*axpy.shares[2 + fp32] == near(1.05 / 50));
  CHECK(*axpy.of_roof == near(3 / 3.8));
  CHECK(name_of(axpy.bound) == "DRAM");
}

TEST_CASE("a kernel far below every roof is bound by latency") {
  auto const step = counted_step().with_peaks();
  auto const rows = analyzed(step).by_kernel();
  auto const& tiny = *row_named(rows, "tiny<a&b>");
  CHECK(name_of(tiny.bound) == "latency");
  CHECK(*tiny.of_roof == near(4000 / 2e-6 / 4e12));
  CHECK(*tiny.to_roof_ns == near(2000 * (1 - 0.0005)));
}

TEST_CASE("without a count there is no figure and no verdict") {
  auto const step = counted_step().with_peaks();
  auto const rows = analyzed(step).by_kernel();
  auto const& unknown = *row_named(rows, "unknown");
  CHECK(unknown.source == flop_source::not_measured);
  CHECK_FALSE(unknown.total_flops);
  CHECK_FALSE(unknown.dram_rate);
  CHECK_FALSE(unknown.of_roof);
  CHECK(name_of(unknown.bound).empty());
  CHECK(*unknown.mean_ns == near(30e3));
}

TEST_CASE("without peaks there are rates and no shares") {
  auto const step = counted_step();
  for (auto const& row : analyzed(step).by_kernel()) {
    CHECK_FALSE(row.of_roof);
    CHECK_FALSE(row.below_roof);
    CHECK(name_of(row.bound).empty());
  }
}

TEST_CASE("low shares give no verdict while other roofs were not looked at") {
  // DRAM at 20 %, but nobody counted FLOP.
  counted_trace c(
      trace_of({kernel("k", 0_us, 10_us).correlated(1), kernel("k", 40_us, 50_us).correlated(2)}));
  c.with_peaks()
      .plan(0, {clock_metric, dram_read_metric, dram_write_metric, l2_metric})
      .sample(1, 0, {{clock_metric, 2e9}, {dram_read_metric, 8e6}});
  auto const rows = analyzed(c).by_kernel();
  CHECK(*rows[0].shares[0] == near(0.2));
  CHECK(name_of(rows[0].bound).empty());
  CHECK_FALSE(rows[0].of_roof);
  // At 80 % it is one: whatever else, DRAM is busy.
  c.values.clear();
  c.samples.clear();
  c.sample(1, 0, {{clock_metric, 2e9}, {dram_read_metric, 32e6}});
  CHECK(name_of(analyzed(c).by_kernel()[0].bound) == "DRAM");
}

TEST_CASE("DRAM is compared with the measured mix of reads and writes that is nearest") {
  auto const step = counted_step().with_peaks();
  measured_roofs roofs(step.device);
  for (auto const& peak : step.peaks) roofs.add(peak, step.t.names.text(peak.test));
  CHECK(*roofs.dram(0) == 4e12);
  CHECK(*roofs.dram(0.1) == 4e12);
  CHECK(*roofs.dram(0.3) == 3.8e12);
  CHECK(*roofs.dram(0.5) == 3.6e12);
  CHECK(*roofs.dram(0.7) == 3.6e12);
  CHECK(*roofs.dram(0.9) == 4.2e12);
  measured_roofs only_read(step.device);
  only_read.add({.burst = 5e12}, "dram_read");
  CHECK(*only_read.dram(1) == 5e12);
  CHECK_FALSE(measured_roofs(step.device).dram(0));
}

TEST_CASE("a peak without a rate per clock is scaled from the clock at which it was measured") {
  measured_roofs roofs(counted_step().device);
  roofs.add({.burst = 100e12, .burst_sm_clock_mhz = 1600}, "tensor_tf32");
  CHECK(*roofs.at_clock("tensor_tf32", 0.8e9) == near(50e12));
  CHECK_FALSE(roofs.at_clock("tensor_tf32", 0));
  CHECK_FALSE(roofs.at_clock("tensor_fp8", 1e9));
}

TEST_CASE("signatures of one kernel are lines of their own, and add up under its name") {
  // Two grids: 1e9 FMA in 10 us, twice; nothing in 30 us, once undisturbed.
  std::vector<event> events;
  std::uint32_t correlation = 0;
  duration_ns now = 10_us;
  auto const run = [&](duration_ns length, std::uint32_t grid) {
    events.push_back(
        kernel("k", now, now + length).shaped({grid, 1, 1}, {64, 1, 1}).correlated(++correlation));
    now = now + length + 20_us;
  };
  for (int i = 0; i < 2; ++i) run(10_us, 1);
  for (int i = 0; i < 2; ++i) run(10_us, 1);
  for (int i = 0; i < 2; ++i) run(30_us, 2);
  run(30_us, 2);
  counted_trace c(trace_of(std::move(events)));
  c.plan_roofline();
  c.sample(1, 1, {}).sample(2, 2, {{sass("ffma"), 1e9}});
  c.sample(5, 1, {}).sample(6, 2, {});
  analyzed const a(c);
  auto const apart = a.by_signature();
  REQUIRE(apart.size() == 2);
  CHECK(apart[0].grid == extent3{2, 1, 1});
  CHECK(*apart[0].total_flops == 0);
  CHECK(apart[1].grid == extent3{1, 1, 1});
  CHECK(*apart[1].total_flops == near(2e9 / 10e-6));
  auto const together = a.by_kernel();
  REQUIRE(together.size() == 1);
  CHECK(together[0].launches == 7);
  CHECK(together[0].samples == 4);
  // 4 launches x 2e9 FLOP in 4 x 10 us + 3 x 30 us.
  CHECK(*together[0].total_flops == near(8e9 / 130e-6));
}

namespace {

/// One kernel of two grids, 10 us each: `counted_ones` launches whose bytes and FLOP are known
/// stand before as many others as make ten.
counted_trace partly_counted(int counted_ones) {
  std::vector<event> events;
  for (int i = 0; i < 10; ++i) {
    duration_ns const start{10'000 + 40'000 * i};
    events.push_back(kernel("k", start, start + 10_us)
                         .shaped({i < counted_ones ? 1u : 2u, 1, 1}, {64, 1, 1})
                         .correlated(static_cast<std::uint32_t>(i + 1)));
  }
  counted_trace c(trace_of(std::move(events)));
  c.plan_roofline().with_peaks();
  c.sample(1, 0, {{clock_metric, 2e9}, {dram_read_metric, 36e6}, {l2_metric, 36e6}});
  c.sample(2, 1, {}).sample(3, 2, {{sass("ffma"), 18e6}});
  return c;
}

}  // namespace

TEST_CASE("figures known for less than half of a line's time are not shown") {
  auto const c = partly_counted(4);
  auto const row = analyzed(c).by_kernel().at(0);
  CHECK(row.launches == 10);
  CHECK(row.known_share == near(0.4));
  CHECK(row.known.dram == near(0.4));
  CHECK_FALSE(row.total_flops);
  CHECK_FALSE(row.dram_rate);
  CHECK_FALSE(row.intensity);
  CHECK_FALSE(row.clock);
  CHECK_FALSE(row.of_roof);
  CHECK(row.bound == bound_by{});
}

TEST_CASE("a line that is known in part has the rates of that part, and says how large it is") {
  auto const c = partly_counted(6);
  auto const row = analyzed(c).by_kernel().at(0);
  CHECK(row.known.dram == near(0.6));
  CHECK(*row.total_flops == near(36e6 / 10e-6));
  CHECK(*row.dram_rate == near(36e6 / 10e-6));
  CHECK(*row.intensity == near(1));  // operations and bytes of the same launches
  CHECK(*row.of_roof == near(0.9));
  CHECK(*row.to_roof_ns == near(1e3));
  CHECK(*row.below_roof == near(0.1));
}

TEST_CASE("signatures of one kernel that are bound by different roofs are judged together") {
  // 10 us at 90 % of DRAM, and 10 us at 80 % of L2: together neither is close.
  std::vector<event> events;
  for (int i = 0; i < 8; ++i) {
    duration_ns const start{10'000 + 40'000 * i};
    events.push_back(kernel("k", start, start + 10_us)
                         .shaped({i % 2 == 0 ? 1u : 2u, 1, 1}, {64, 1, 1})
                         .correlated(static_cast<std::uint32_t>(i + 1)));
  }
  counted_trace c(trace_of(std::move(events)));
  c.plan_roofline().with_peaks();
  c.sample(1, 0, {{clock_metric, 2e9}, {dram_read_metric, 36e6}});
  c.sample(2, 0, {{clock_metric, 2e9}, {l2_metric, 64e6}});
  for (std::uint32_t i : {3u, 4u}) c.sample(i, 1, {});
  for (std::uint32_t i : {5u, 6u}) c.sample(i, 2, {});
  analyzed const a(c);
  auto const apart = a.by_signature();
  CHECK(*apart[0].of_roof == near(0.9));
  CHECK(*apart[1].of_roof == near(0.8));
  auto const together = a.by_kernel().at(0);
  CHECK(*together.of_roof == near(0.45));
  CHECK(name_of(together.bound) == "DRAM");
  CHECK(*together.to_roof_ns == near(5.5e3));
}

TEST_CASE("a range has the work of all launches inside, inner ranges included") {
  auto const step = counted_step().with_peaks();
  auto const rows = analyzed(step).by_range();
  REQUIRE(rows.size() == 2);
  auto const& outer = rows[0];
  CHECK(outer.name == "step");
  CHECK(outer.instances == 1);
  CHECK(outer.launches == 22);
  CHECK(outer.time_share == near(1));
  CHECK(outer.exact_share == near(960. / 990));
  // gemm 6 x 4e10, axpy 5 x 2.1e7, tiny 5 x 2000, in the 960 us that were counted.
  CHECK(*outer.total_flops == near((24e10 + 10.5e7 + 1e4) / 960e-6));
  CHECK(name_of(outer.bound) == "tensor BF16");  // most of its time is
  CHECK(*outer.of_roof == near(1 - (600 * 0.375 + 100 * (1 - 3 / 3.8) + 10 * (1 - 0.0005)) / 960));
  CHECK(*outer.below_roof == near(1 - *outer.of_roof));
  auto const& inner = rows[1];
  CHECK(inner.name == "forward");
  CHECK(inner.launches == 5);  // of gemm; the sixth was launched after its end
  CHECK(inner.total_ns == near(500e3));
  CHECK(*inner.total_flops == near(400e12));
}

namespace {

/// PyTorch in small: the thread that trains opens the ranges, another one runs backward. Each
/// kernel computes 1e10 bf16 operations, and one of them runs before any range.
counted_trace training_steps() {
  std::vector<event> events = {kernel("warm_up", 0_us, 50_us).launched_at(0_us).correlated(1)};
  std::uint32_t correlation = 1;
  for (int step = 0; step < 3; ++step) {
    auto const from = [step](duration_ns since) {
      return 100_us + since + duration_ns{step * 1'000'000};
    };
    events.push_back(range("step", from(0_us), from(900_us)));
    events.push_back(range("forward", from(0_us), from(300_us)));
    events.push_back(range("backward", from(300_us), from(700_us)));
    events.push_back(range("optimizer", from(700_us), from(900_us)));
    auto const launch = [&](duration_ns at, duration_ns length, std::uint32_t thread) {
      events.push_back(
          kernel("gemm", from(at), from(at) + length).on_thread(thread).correlated(++correlation));
    };
    launch(10_us, 100_us, 1);
    launch(310_us, 100_us, 2);
    launch(450_us, 100_us, 2);
    launch(710_us, 100_us, 1);
  }
  counted_trace c(trace_of(events));
  c.plan_roofline();
  counted const of_gemm{{tensor("bf16_dst_fp32"), 1e10}};
  for (std::uint16_t group = 0; group < 3; ++group) {
    c.sample(1, group, of_gemm);
    c.sample(2 + group, group, of_gemm);
  }
  return c;
}

}  // namespace

TEST_CASE("ranges of a training step hold the launches of their backward thread, and add up") {
  auto const c = training_steps();
  auto const rows = analyzed(c).by_range();
  auto const& step = *row_named(rows, "step");
  auto const& forward = *row_named(rows, "forward");
  auto const& backward = *row_named(rows, "backward");
  auto const& optimizer = *row_named(rows, "optimizer");
  CHECK(step.instances == 3);
  CHECK(step.launches == 12);
  CHECK(backward.launches == 6);
  CHECK(step.total_ns == near(forward.total_ns + backward.total_ns + optimizer.total_ns));
  CHECK(*step.total_flops * step.total_ns ==
        near(*forward.total_flops * forward.total_ns + *backward.total_flops * backward.total_ns +
             *optimizer.total_flops * optimizer.total_ns));
  CHECK(*backward.total_flops == near(1e10 / 100e-6));
  CHECK(step.exact_share == near(1));
}

TEST_CASE("launches outside any range have a line, so that lines add up to all time") {
  auto const c = training_steps();
  analyzed const a(c);
  auto const rows = a.by_range();
  auto const* const outside = row_named(rows, outside_ranges_name);
  REQUIRE(outside != nullptr);
  CHECK(outside->launches == 1);
  CHECK(outside->instances == 0);
  CHECK(outside->total_ns + row_named(rows, "step")->total_ns == near(a.roofs().gpu_ns()));
}

TEST_CASE("without ranges there is no line for launches outside of ranges") {
  counted_trace const c(trace_of({kernel("k", 0_us, 10_us)}));
  CHECK(analyzed(c).by_range().empty());
}

TEST_CASE("declared work is used if nothing was counted, and marked as declared") {
  counted_trace c(trace_of({
      range("outer", 0_us, 500_us),
      range("declared", 10_us, 100_us),
      kernel("a", 20_us, 40_us).correlated(1),
      range("counted", 100_us, 300_us),
      kernel("b", 110_us, 120_us).correlated(2),
      kernel("b", 150_us, 160_us).correlated(3),
      kernel("b", 190_us, 200_us).correlated(4),
  }));
  c.plan_roofline();
  c.sample(2, 1, {}).sample(3, 2, {{sass("dadd"), 5e6}});
  std::map<range_id, range_declaration> const declared = {{c.t.id_of("declared"), {6e8, 0}},
                                                          {c.t.id_of("counted"), {1e15, 0}}};
  auto const rows = analyzed(c, declared).by_range();
  auto const& marked = *row_named(rows, "declared");
  CHECK(marked.source == flop_source::declared);
  CHECK(*marked.total_flops == near(6e8 / 20e-6));
  auto const& counted_one = *row_named(rows, "counted");
  CHECK(counted_one.source == flop_source::counted);
  CHECK(*counted_one.total_flops == near(5e6 / 10e-6));
  auto const& outer = *row_named(rows, "outer");  // never a mixture
  CHECK(outer.source == flop_source::counted);
  CHECK(*outer.total_flops == near(5e6 / 10e-6));
  CHECK(outer.exact_share == near(30. / 50));
}

TEST_CASE("utilization of a range is by its own length, and by declared FLOP if there are any") {
  auto c = counted_step();
  c.with_peaks();
  auto const step = [&](std::map<range_id, range_declaration> const& declared) {
    auto const rows = analyzed(c, declared).by_range();
    return *row_named(rows, "step");
  };
  auto const counted_one = step({});
  CHECK(counted_one.elapsed_ns == 2000e3);
  CHECK(counted_one.flop_of[static_cast<std::size_t>(precision::tensor_bf16)] == near(6 * 4e10));
  CHECK(*counted_one.model_utilization() == near(6 * 4e10 / counted_one.elapsed_ns * 1e9 / 700e12));
  CHECK(*counted_one.hardware_utilization() > *counted_one.model_utilization());
  auto const declared_one = step({{c.t.id_of("step"), {1e11, 0}}});
  CHECK(*declared_one.model_utilization() == near(1e11 / declared_one.elapsed_ns * 1e9 / 700e12));
  CHECK(*declared_one.hardware_utilization() == near(*counted_one.hardware_utilization()));
}

TEST_CASE("without peaks, or for kernels, there is no utilization") {
  auto const step = counted_step();
  for (auto const& row : analyzed(step).by_range()) CHECK_FALSE(row.model_utilization());
  auto c = counted_step();
  c.with_peaks();
  for (auto const& row : analyzed(c).by_kernel()) CHECK_FALSE(row.hardware_utilization());
}

TEST_CASE("declared FLOP and bytes each come from the innermost range that declares them") {
  counted_trace const c(trace_of({
      range("flops", 0_us, 500_us),
      range("bytes", 10_us, 100_us),
      kernel("a", 20_us, 40_us).correlated(1),
      kernel("a", 50_us, 60_us).correlated(2),
      range("other", 200_us, 300_us),
      kernel("a", 210_us, 240_us).correlated(3),
  }));
  std::map<range_id, range_declaration> const declared = {{c.t.id_of("flops"), {6e8, 0}},
                                                          {c.t.id_of("bytes"), {0, 9e6}}};
  analyzed const a(c, declared);
  auto const of = [&](std::string_view name) {
    return *std::find_if(a.ranges.begin(), a.ranges.end(), [&](range_work const& work) {
      return c.t.names.text(work.key.name) == name;
    });
  };
  CHECK(of("flops").declared_flops == 6e8);
  CHECK(of("flops").declared_ns == 60'000);  // the range inside declares no FLOP of its own
  CHECK(of("flops").declared_bytes == 9e6);
  CHECK(of("flops").declared_bytes_ns == 30'000);
  CHECK(of("bytes").declared_flops == 0);
  CHECK(of("bytes").declared_bytes == 9e6);
  CHECK(of("other").declared_bytes_ns == 0);
}

TEST_CASE("ranges can be listed by other keys than their names") {
  auto const t = trace_of({range("gemm", 0_us, 100_us), kernel("a", 20_us, 40_us).correlated(1),
                           range("gemm", 200_us, 300_us), range("inner", 205_us, 260_us),
                           kernel("a", 210_us, 240_us).correlated(2)});
  range_tree const tree(t.begins, t.ends, t.last);
  open_ranges const open(tree);
  launch_ranges const launched(tree, range_scope::process, static_cast<thread_index>(1));
  range_workloads work(tree, open, launched, {}, [&](traced_range const& range) {
    return range_key{.name = t.names.text(range.name) == "gemm" && range.id == t.id_of("gemm", 1)
                                 ? static_cast<name_id>(7)
                                 : name_id{},
                     .domain = {},
                     .style = {}};
  });
  launch_metrics const metrics;
  workload_times times(metrics);
  for (auto const& kernel : t.kernels) work.add(kernel, times.add(kernel));
  auto const rows = work.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].key.name == static_cast<name_id>(7));
  CHECK(rows[1].instances == 1);
  CHECK(rows[1].workloads.front().tally.ns == 30'000);
  CHECK(rows[0].workloads.front().tally.ns == 50'000);  // "inner", too, is of the rest
}

TEST_CASE("work listed by place counts in all enclosing places") {
  auto const t = trace_of({range("step", 0_us, 100_us), range("gemm", 10_us, 50_us),
                           kernel("a", 20_us, 40_us).correlated(1),
                           kernel("b", 60_us, 65_us).correlated(2), range("empty", 70_us, 80_us)});
  range_tree const tree(t.begins, t.ends, t.last);
  open_ranges const open(tree);
  launch_ranges const launched(tree, range_scope::process, static_cast<thread_index>(1));
  std::map<range_id, range_declaration> const declared = {{t.id_of("gemm"), {3e6, 0}}};
  range_workloads work(tree, open, launched, declared);
  launch_metrics const metrics;
  workload_times times(metrics);
  for (auto const& kernel : t.kernels) work.add(kernel, times.add(kernel));
  // "gemm" and "empty" stand in one place inside of "step".
  std::vector<std::uint32_t> const of_range = {0, 1, 1}, around = {no_range, 0};
  auto const rows = work.by_place(of_range, around);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].workloads.size() == 2);
  CHECK(rows[0].declared_flops == 3e6);
  CHECK(rows[1].key.name == static_cast<name_id>(1));
  REQUIRE(rows[1].workloads.size() == 1);
  CHECK(rows[1].workloads.front().tally.ns == 20'000);
  CHECK(rows[1].declared_ns == 20'000);
}

TEST_CASE("no share is above 1, and L2 loses a roof that a kernel exceeds") {
  roof_shares shares{};
  shares[dram_roof] = 1.003;
  shares[l2_roof] = 1.1;
  shares[compute_roofs + bf16] = 0.83;
  limit_shares(shares);
  CHECK(*shares[dram_roof] == 1);
  CHECK_FALSE(shares[l2_roof]);
  CHECK(*shares[compute_roofs + bf16] == 0.83);
  shares[compute_roofs + fp32] = 1.2;
  limit_shares(shares);
  CHECK_FALSE(shares[compute_roofs + fp32]);
  shares[dram_roof] = 0.3;
  CHECK(highest_share(shares, false)->bound.of == precision::tensor_bf16);
}

TEST_CASE("a kernel is not bound by L2 if its tensor cores were active for a larger share") {
  roof_shares shares{};
  shares[dram_roof] = 0.3;
  shares[l2_roof] = 0.9;
  shares[compute_roofs + bf16] = 0.83;
  CHECK(highest_share(shares, true, 0.85)->bound.what == bound_by::kind::l2);
  auto const found = highest_share(shares, true, 0.95);
  REQUIRE(found);
  CHECK(found->bound.what == bound_by::kind::compute);
  CHECK(found->share == 0.83);
  // Without their FLOP nothing says how near the roof of the tensor cores is.
  shares[compute_roofs + bf16].reset();
  CHECK_FALSE(highest_share(shares, false, 0.95));
  // A kernel that is far from everything still waits for latency.
  shares[l2_roof] = 0.1;
  shares[compute_roofs + bf16] = 0.15;
  CHECK(highest_share(shares, true, 0.2)->bound.what == bound_by::kind::latency);
}

TEST_CASE("a line of a kernel says with how many shapes it ran") {
  std::vector<event> events;
  for (int i = 0; i < 6; ++i)
    events.push_back(
        kernel(i < 4 ? "k" : "one", duration_ns{1'000'000 + i * 300'000},
               duration_ns{1'200'000 + i * 300'000})
            .correlated(static_cast<std::uint32_t>(i + 1))
            .shaped({i < 4 ? static_cast<std::uint32_t>(8 + i / 2) : 8u, 1, 1}, {128, 1, 1}));
  counted_trace c(trace_of(std::move(events)));
  c.captured_until = trace_start + 10_ms;
  std::map<std::string, std::uint64_t> shapes;
  for (auto const& row : analyzed(c).by_kernel()) shapes[row.name] = row.shapes;
  CHECK(shapes == std::map<std::string, std::uint64_t>{{"k", 2}, {"one", 1}});
}

TEST_CASE("an occupancy from samples is at most what fits on an SM") {
  std::vector<event> events;
  for (int i = 0; i < 20; ++i)
    events.push_back(
        kernel("k", duration_ns{1'000'000 + i * 300'000}, duration_ns{1'200'000 + i * 300'000})
            .correlated(static_cast<std::uint32_t>(i + 1))
            .shaped({8, 1, 1}, {128, 1, 1}));
  counted_trace c(trace_of(std::move(events)));
  c.captured_until = trace_start + 10_ms;
  c.sample_in_time(7, active_cycles_metric, 20, 40'000)
      .sample_in_time(7, occupancy_metric, 20, 13.7);
  c.device.compute_major = 9;
  auto const occupancy = [&c] {
    auto const rows = analyzed(c).by_kernel();
    REQUIRE(rows.size() == 1);
    REQUIRE(rows[0].occupancy);
    return std::pair(*rows[0].occupancy, rows[0].occupancy_error.value_or(0));
  };
  auto const [without_limit, error] = occupancy();  // the number of registers is not known
  CHECK(without_limit == Approx(0.137).epsilon(0.001));
  CHECK(error < 0.005);
  // 255 registers: two blocks of four warps, of 64.
  c.t.shapes.front().registers_per_thread = 255;
  auto const [limited, its_error] = occupancy();
  CHECK(limited == 0.125);
  CHECK(its_error >= 0.137 - 0.125 - 1e-4);
  c.t.shapes.front().registers_per_thread = 32;
  CHECK(occupancy().first == Approx(0.137).epsilon(0.001));
}

// SPDX-License-Identifier: Apache-2.0
#include "guest/live/live_metrics.hpp"

#include "support/analyzed.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

constexpr timestamp_ns no_end{~std::uint64_t{0}};
constexpr auto fp32 = static_cast<std::size_t>(precision::fp32);

Approx near(double value) {
  return Approx(value).epsilon(1e-9);
}

counter_reading reading_of(counted_trace const& c, std::size_t sample) {
  counter_reading reading{{c.samples[sample]}, {}};
  for (auto const& value : c.values)
    if (value.correlation == c.samples[sample].correlation) reading.values.push_back(value);
  return reading;
}

void feed_definitions(live_metrics& live, counted_trace const& c) {
  live.add(c.device);
  for (auto const& peak : c.peaks) live.add(peak);
  for (auto const& metric : c.metrics) live.add(metric);
  for (auto const& shape : c.t.shapes) live.add(shape);
}

void feed_work(live_metrics& live, counted_trace const& c) {
  for (auto const& begin : c.t.begins) live.add(begin);
  live.add(c.t.kernels);
  for (auto const& copy : c.t.copies) live.add(copy);
  for (auto const& fill : c.t.fills) live.add(fill);
  for (auto const& graph : c.t.graphs) live.add(graph);
  for (auto const& end : c.t.ends) live.add(end);
}

void feed_readings(live_metrics& live, counted_trace const& c) {
  for (std::size_t i = 0; i < c.samples.size(); ++i) live.add(reading_of(c, i));
}

/// As the library does: what was launched is known to be read before its kernel comes, and what was
/// counted long after.
achieved_snapshot achieved_in(counted_trace const& c, live_metrics::capacity limits = {}) {
  live_metrics live(c.t.text(), limits);
  feed_definitions(live, c);
  for (auto const& sample : c.samples) live.expect_reading(sample.correlation);
  feed_work(live, c);
  feed_readings(live, c);
  live.judge(no_end);
  return live.snapshot();
}

roofline_row const& row(std::vector<roofline_row> const& rows, std::string_view name) {
  auto const* const found = row_named(rows, name);
  REQUIRE(found != nullptr);
  return *found;
}

void check_same(std::optional<double> const& one, std::optional<double> const& other) {
  CHECK(one.has_value() == other.has_value());
  if (one && other) CHECK(*one == near(*other));
}

void check_same(roofline_row const& live, roofline_row const& read) {
  INFO(live.name);
  CHECK(live.launches == read.launches);
  CHECK(live.total_ns == near(read.total_ns));
  CHECK(live.exact_share == near(read.exact_share));
  CHECK(live.source == read.source);
  check_same(live.total_flops, read.total_flops);
  for (std::size_t p = 0; p < precision_count; ++p) check_same(live.flops[p], read.flops[p]);
  check_same(live.dram_rate, read.dram_rate);
  check_same(live.l2_rate, read.l2_rate);
  check_same(live.clock, read.clock);
  check_same(live.occupancy, read.occupancy);
  check_same(live.tensor_active, read.tensor_active);
  check_same(live.of_roof, read.of_roof);
  CHECK(name_of(live.bound) == name_of(read.bound));
}

/// Three launches of one kernel; the second is sampled, from 95 us to 115 us.
counted_trace one_sample(std::vector<event> beside = {}) {
  std::vector<event> events = {kernel("k", 10_us, 20_us).correlated(1),
                               kernel("k", 100_us, 110_us).correlated(2),
                               kernel("k", 200_us, 210_us).correlated(3)};
  events.insert(events.end(), beside.begin(), beside.end());
  counted_trace c(trace_of(std::move(events)));
  c.plan(0, {dram_read_metric, dram_write_metric}).sample(2, 0, {{dram_read_metric, 7e6}});
  return c;
}

/// `launches` launches of each kernel, 10 us each, those of the first two samples of each counted
/// in full: 1e6 FFMA and 1 MB read.
struct steps {
  std::vector<event> events;
  std::vector<std::uint32_t> sampled;
  std::uint32_t correlation = 0;
  duration_ns now = 10_us;

  event launch(std::string name) {
    auto made = kernel(std::move(name), now, now + 10_us).correlated(++correlation);
    now = now + 30_us;
    return made;
  }
  void run(std::string const& name, int count = 1) {
    for (int i = 0; i < count; ++i) events.push_back(launch(name));
  }
  void read(std::string const& name) {
    run(name, 3);
    sampled.insert(sampled.end(), {correlation - 2, correlation - 1, correlation});
  }
  counted_trace trace() const {
    counted_trace c(trace_of(events));
    c.plan_roofline();
    for (std::size_t i = 0; i < sampled.size(); ++i)
      c.sample(sampled[i], static_cast<std::uint16_t>(i % 3),
               {{dram_read_metric, 1e6}, {clock_metric, 2e9}, {sass("ffma"), 1e6}});
    return c;
  }
};

}  // namespace

TEST_CASE("live metrics equal those of the capture afterwards") {
  auto const step = counted_step().with_peaks();
  analyzed const read(step);
  auto const live = achieved_in(step);
  auto const kernels = read.by_kernel();
  REQUIRE(live.kernels.size() == kernels.size());
  check_same(row(live.kernels, "_Z4gemmPK13__nv_bfloat16S1_Pfi"), kernels[0]);
  for (auto const* const name : {"copy", "axpy", "tiny<a&b>", "unknown"})
    check_same(row(live.kernels, name), row(kernels, name));
  auto const ranges = read.by_range();
  REQUIRE(live.ranges.size() == ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) check_same(live.ranges[i], ranges[i]);
  CHECK(live.all.total_ns == near(read.roofs().gpu_ns()));
  CHECK(live.all.exact_share == near(read.roofs().exact_share()));
  CHECK(live.valid_readings == 12);
  CHECK(live.discarded.all() == 0);
  CHECK(live.has_peaks);
}

TEST_CASE("readings may come before the records of their launches, and unannounced") {
  auto const step = counted_step().with_peaks();
  auto const usual = achieved_in(step);
  live_metrics early(step.t.text());
  feed_definitions(early, step);
  feed_readings(early, step);
  feed_work(early, step);
  early.judge(no_end);
  live_metrics unannounced(step.t.text());
  feed_definitions(unannounced, step);
  feed_work(unannounced, step);
  feed_readings(unannounced, step);
  unannounced.judge(no_end);
  for (auto* const live : {&early, &unannounced}) {
    auto const found = live->snapshot();
    REQUIRE(found.kernels.size() == usual.kernels.size());
    for (std::size_t i = 0; i < usual.kernels.size(); ++i)
      check_same(found.kernels[i], usual.kernels[i]);
  }
}

TEST_CASE(
    "a live reading is discarded if another kernel ran at the same time, in any order of records") {
  for (auto const& other : {kernel("other", 90_us, 96_us), kernel("other", 114_us, 300_us),
                            kernel("other", 0_us, 500_us), kernel("other", 101_us, 102_us)}) {
    auto c = one_sample({other.correlated(9)});
    for (int turned = 0; turned < 4; ++turned) {
      auto const live = achieved_in(c);
      CHECK(live.valid_readings == 0);
      CHECK(live.discarded.beside_kernels == 1);
      CHECK_FALSE(row(live.kernels, "k").dram_rate);
      std::rotate(c.t.kernels.begin(), c.t.kernels.begin() + 1, c.t.kernels.end());
    }
  }
  auto apart = one_sample({kernel("other", 80_us, 94_us).correlated(9),
                           kernel("other", 116_us, 120_us).correlated(10)});
  for (int turned = 0; turned < 5; ++turned) {
    CHECK(achieved_in(apart).valid_readings == 1);
    CHECK(*row(achieved_in(apart).kernels, "k").dram_rate == near(7e6 / 10e-6));
    std::rotate(apart.t.kernels.begin(), apart.t.kernels.begin() + 1, apart.t.kernels.end());
  }
}

TEST_CASE("work on another GPU does not matter to a live reading") {
  auto c = one_sample({kernel("other", 90_us, 120_us).correlated(9)});
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) == 9) kernel.device = static_cast<device_id>(1);
  CHECK(achieved_in(c).valid_readings == 1);
}

TEST_CASE("a live reading beside a copy, a fill or a whole graph is counted as discarded") {
  auto const copied = one_sample({copy(copy_kind::host_to_device, 100, 90_us, 120_us)});
  CHECK(achieved_in(copied).discarded.beside_copies == 1);
  auto const filled = one_sample({fill(100, 114_us, 120_us)});
  CHECK(achieved_in(filled).discarded.beside_copies == 1);
  auto const graphed = one_sample({graph(90_us, 120_us).correlated(9)});
  CHECK(achieved_in(graphed).discarded.beside_kernels == 1);
  auto const apart = one_sample({copy(copy_kind::host_to_device, 100, 80_us, 94_us),
                                 fill(100, 116_us, 120_us), graph(130_us, 140_us).correlated(9)});
  CHECK(achieved_in(apart).valid_readings == 1);
}

TEST_CASE("launches of one live reading are one sample, and each of them can spoil it") {
  auto const of = [](std::vector<event> beside) {
    auto c = one_sample(std::move(beside));
    c.values.clear();
    c.sample(1, 0, {{dram_read_metric, 7e6}});
    live_metrics live(c.t.text());
    feed_definitions(live, c);
    for (auto const& sample : c.samples) live.expect_reading(sample.correlation);
    feed_work(live, c);
    for (auto& sample : c.samples) sample.reading = 4;
    live.add({c.samples, c.values});
    live.judge(no_end);
    return live.snapshot();
  };
  CHECK(of({}).valid_readings == 1);
  CHECK(of({}).discarded.all() == 0);
  CHECK(of({kernel("other", 12_us, 13_us).correlated(9)}).discarded.beside_kernels == 1);
}

TEST_CASE("readings are judged the same in any order of records as with the whole trace") {
  std::mt19937 random{7};
  auto const below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  std::uint64_t valid = 0, discarded = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<event> events;
    duration_ns now = 10_us;
    for (std::uint32_t i = 1; i <= 60; ++i) {
      now = now + duration_ns{below(4) == 0 ? 200 : 12'000};
      auto const end = now + 1_us + duration_ns{below(below(20) == 0 ? 100'000 : 3000)};
      if (below(8) == 0)
        events.push_back(copy(copy_kind::host_to_device, 8, now, end));
      else
        events.push_back(kernel(numbered("k", static_cast<int>(below(2))), now, end).correlated(i));
    }
    counted_trace c(trace_of(std::move(events)));
    c.plan(0, {dram_read_metric}).plan(1, {sass("ffma")});
    std::uint32_t reading = 0;
    for (auto const& kernel : c.t.kernels) {
      if (below(5) != 0) continue;
      c.sample(raw(kernel.correlation), static_cast<std::uint16_t>(below(2)), {}, 3_us, 3_us);
      c.samples.back().reading = below(3) == 0 && reading != 0 ? reading : ++reading;
    }
    analyzed const whole(c);
    for (int swaps = 0; swaps < 30; ++swaps) {
      auto const at = below(static_cast<std::uint32_t>(c.t.kernels.size() - 4));
      std::swap(c.t.kernels[at], c.t.kernels[at + 1 + below(3)]);
    }
    live_metrics live(c.t.text());
    feed_definitions(live, c);
    std::size_t copied = 0;
    for (auto const& kernel : c.t.kernels) {
      auto const is_sampled = [&](auto const& s) { return s.correlation == kernel.correlation; };
      auto const sampled = std::any_of(c.samples.begin(), c.samples.end(), is_sampled);
      auto const early = below(2) == 0;
      if (sampled && early) live.expect_reading(kernel.correlation);
      live.add(std::span(&kernel, 1));
      if (sampled && !early) live.expect_reading(kernel.correlation);
      if (below(4) == 0 && copied < c.t.copies.size()) live.add(c.t.copies[copied++]);
    }
    for (; copied < c.t.copies.size(); ++copied) live.add(c.t.copies[copied]);
    for (std::uint32_t number = 1; number <= reading; ++number) {
      counter_reading together;
      for (auto const& sample : c.samples)
        if (sample.reading == number) together.launches.push_back(sample);
      live.add(together);
    }
    live.judge(no_end);
    auto const found = live.snapshot();
    CHECK(found.valid_readings == whole.metrics.valid_samples());
    CHECK(found.discarded.without_kernel == whole.metrics.discarded().without_kernel);
    CHECK(found.discarded.beside_kernels == whole.metrics.discarded().beside_kernels);
    CHECK(found.discarded.beside_copies == whole.metrics.discarded().beside_copies);
    CHECK(found.discarded.mixed == whole.metrics.discarded().mixed);
    valid += found.valid_readings;
    discarded += found.discarded.all();
  }
  CHECK(valid > 300);
  CHECK(discarded > 300);
}

TEST_CASE("a reading waits until all work of its time has arrived") {
  auto const c = one_sample();
  live_metrics live(c.t.text());
  feed_definitions(live, c);
  feed_work(live, c);
  feed_readings(live, c);
  live.judge(trace_start + 100_us);  // the window closes at 115
  CHECK(live.snapshot().valid_readings == 0);
  kernel_record late;
  late.device = c.t.kernels[0].device;
  late.start = trace_start + 113_us;
  late.duration = 5_us;
  late.correlation = static_cast<correlation_id>(50);
  live.add(std::span(&late, 1));
  live.judge(trace_start + 200_us);
  CHECK(live.snapshot().valid_readings == 0);
  CHECK(live.snapshot().discarded.beside_kernels == 1);
}

TEST_CASE("a reading waits only a limited time for the record of its own launch") {
  auto const c = one_sample();
  auto const until = [&](duration_ns after) { return c.samples[0].closed + after; };
  for (bool const comes : {true, false}) {
    live_metrics live(c.t.text());
    feed_definitions(live, c);
    feed_readings(live, c);
    live.judge(until(1_us));
    live.judge(until(500'000_us));
    CHECK(live.snapshot().discarded.all() == 0);
    if (comes) feed_work(live, c);
    live.judge(until(1'000'000_us));
    CHECK(live.snapshot().valid_readings == (comes ? 1 : 0));
    CHECK(live.snapshot().discarded.without_kernel == (comes ? 0 : 1));
  }
}

TEST_CASE("a launch is expected while a kernel in flight holds back its record") {
  auto const c = one_sample();
  live_metrics live(c.t.text());
  feed_definitions(live, c);
  live.expect_reading(c.samples[0].correlation);
  for (int flush = 0; flush < 100; ++flush) live.judge(trace_start);
  feed_work(live, c);
  kernel_record other = c.t.kernels[2];
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    other.correlation = static_cast<correlation_id>(100 + i);
    other.start = other.start + 20_us;
    live.add(std::span(&other, 1));
  }
  feed_readings(live, c);
  live.judge(no_end);
  CHECK(live.snapshot().valid_readings == 1);
}

TEST_CASE("two ranges share counts of a workload that was read in one of them") {
  steps s;
  auto const before = s.now;
  s.read("k");
  s.run("k");
  s.events.push_back(range("first", before, s.now));
  auto const between = s.now;
  s.run("k", 2);
  s.run("other", 6);
  s.events.push_back(range("second", between, s.now));
  auto const live = achieved_in(s.trace());
  auto const& first = row(live.ranges, "first");
  CHECK(first.launches == 4);
  CHECK(*first.total_flops == near(2e6 / 10e-6));
  CHECK(*first.dram_rate == near(1e6 / 10e-6));
  CHECK(*first.clock == near(2e9));
  CHECK(first.exact_share == near(1));
  auto const& second = row(live.ranges, "second");
  CHECK(second.launches == 8);
  CHECK(second.total_ns == near(80e3));
  CHECK_FALSE(second.total_flops);  // known for less than half of its time
  CHECK(second.exact_share == near(0.25));
  CHECK(live.all.exact_share == near(0.5));
}

TEST_CASE("a launch counts in all ranges around it, but only once for each name") {
  steps s;
  s.read("k");
  s.run("k");
  s.events.push_back(range("step", 0_us, 1000_us));
  s.events.push_back(range("f", 1_us, 900_us));
  s.events.push_back(range("f", 2_us, 800_us));
  s.events.push_back(range("request", 3_us, 700_us).start_end().in_domain("web"));
  s.events.push_back(range("step", 4_us, 600_us).start_end());
  auto const live = achieved_in(s.trace());
  CHECK(live.ranges.size() == 3);
  for (auto const* const name : {"step", "f", "web:request"}) {
    CHECK(row(live.ranges, name).launches == 4);
    CHECK(*row(live.ranges, name).flops[fp32] == near(2e6 / 10e-6));
  }
  CHECK(live.all.launches == 4);
}

TEST_CASE("figures without counts are unknown, and so are shares without peaks") {
  steps s;
  s.run("k", 5);
  auto const uncounted = achieved_in(s.trace());
  CHECK(uncounted.all.launches == 5);
  CHECK(uncounted.all.total_ns == near(50e3));
  CHECK(uncounted.all.exact_share == 0);
  CHECK_FALSE(uncounted.all.total_flops);
  CHECK_FALSE(uncounted.all.flops[fp32]);
  CHECK_FALSE(uncounted.all.dram_rate);
  CHECK_FALSE(uncounted.all.clock);
  CHECK_FALSE(uncounted.all.of_roof);
  CHECK(uncounted.all.source == flop_source::not_measured);
  s.read("k");
  auto const counted = achieved_in(s.trace());
  CHECK(*counted.all.total_flops > 0);
  CHECK(*counted.all.flops[static_cast<std::size_t>(precision::fp64)] == 0);  // counted: none
  CHECK_FALSE(counted.all.of_roof);
  CHECK_FALSE(counted.has_peaks);
}

TEST_CASE("declared work is used while nothing is counted, as in the capture's report") {
  counted_trace c(trace_of({
      range("outer", 0_us, 500_us),
      range("declared", 10_us, 100_us),
      range("inside", 15_us, 50_us),
      kernel("a", 20_us, 40_us).correlated(1),
      kernel("a", 60_us, 70_us).correlated(5),
      range("declared", 100_us, 105_us),  // no kernel: it does not count
      range("counted", 105_us, 300_us),
      kernel("b", 110_us, 120_us).correlated(2),
      kernel("b", 150_us, 160_us).correlated(3),
      kernel("b", 190_us, 200_us).correlated(4),
      range("sum", 400_us, 500_us),
      range("declared", 410_us, 420_us),
      kernel("a", 411_us, 415_us).correlated(6),
      range("also", 430_us, 440_us),
      kernel("a", 431_us, 435_us).correlated(7),
  }));
  c.plan_roofline();
  c.sample(2, 1, {}).sample(3, 2, {{sass("dadd"), 5e6}});
  std::map<range_id, range_declaration> declared;
  for (auto& begin : c.t.begins) {
    auto const name = c.t.names.text(begin.name);
    begin.declared_flops = name == "declared"  ? 6e8
                           : name == "counted" ? 1e15
                           : name == "also"    ? 7e8
                                               : 0;
    if (begin.declared_flops > 0) declared[begin.range] = {begin.declared_flops, 0};
  }
  auto const rows = analyzed(c, declared).by_range();
  auto const live = achieved_in(c);
  REQUIRE(live.ranges.size() == rows.size());
  for (auto const& read : rows) check_same(row(live.ranges, read.name), read);
  CHECK(*row(live.ranges, "declared").total_flops == near(12e8 / 34e-6));
  CHECK(row(live.ranges, "declared").source == flop_source::declared);
  CHECK(*row(live.ranges, "sum").total_flops == near(13e8 / 8e-6));
  CHECK_FALSE(row(live.ranges, "inside").total_flops);  // less than its work was declared
}

TEST_CASE(
    "declared work of a range counts after the range has ended and all its launches are known") {
  auto c = trace_of({range("epoch", 0_us, 100_us), kernel("k", 10_us, 20_us).correlated(1),
                     kernel("k", 300_us, 390_us).correlated(2)});
  c.begins[0].declared_flops = 1e6;
  for (auto& kernel : c.kernels) kernel.range = c.begins[0].range;
  live_metrics live(c.text());
  for (auto const& shape : c.shapes) live.add(shape);
  live.add(c.begins[0]);
  auto const flops = [&] { return live.snapshot().ranges.at(0).total_flops; };
  live.add(std::span(c.kernels).first(1));
  live.judge(trace_start + 50_us);
  CHECK_FALSE(flops());  // it may launch more
  live.add(c.ends[0]);
  live.judge(trace_start + 99_us);
  CHECK_FALSE(flops());  // it has, and that has not run yet
  live.add(std::span(c.kernels).subspan(1));
  live.judge(trace_start + 100_us);
  CHECK(*flops() == near(1e6 / 100e-6));
  CHECK(live.snapshot().ranges[0].source == flop_source::declared);
}

TEST_CASE("a forgotten range with declared work loses its FLOP and its time") {
  auto c = trace_of({kernel("k", 10_us, 20_us)});
  live_metrics::capacity small;
  small.workloads.recent_ranges = 4;
  live_metrics live([](name_id) -> std::string_view { return "step"; }, small);
  for (auto const& shape : c.shapes) live.add(shape);
  for (std::uint64_t i = 1; i <= 7; ++i) {  // none of the first three is settled in time
    range_begin begin{};
    begin.range = static_cast<range_id>(i);
    begin.time = trace_start + duration_ns{static_cast<std::int64_t>(i)};
    begin.declared_flops = i <= 3 ? 1e9 : 1e6;
    live.add(begin);
    c.kernels[0].range = begin.range;
    live.add(c.kernels);
    range_end end{};
    end.range = begin.range;
    end.time = begin.time;
    live.add(end);
  }
  live.judge(no_end);
  auto const known = live.snapshot().ranges.at(0).total_flops;
  REQUIRE(known);
  CHECK(*known == near(1e6 / 10e-6));
}

TEST_CASE("readings of many launches in a row are all judged, however many kernels come together") {
  std::vector<event> events;
  for (std::uint32_t i = 1; i <= 1024; ++i)
    events.push_back(
        kernel("k", duration_ns{100'000 * i}, duration_ns{100'000 * i + 10'000}).correlated(i));
  counted_trace c(trace_of(std::move(events)));
  c.plan(0, {dram_read_metric, dram_write_metric});
  for (std::uint32_t i = 1; i <= 1024; ++i) c.sample(i, 0, {{dram_read_metric, 1e6}});
  auto const together = std::size_t{256};
  for (bool const announced : {true, false}) {
    live_metrics live(c.t.text());
    feed_definitions(live, c);
    for (std::size_t from = 0; from < c.samples.size(); from += together) {
      for (std::size_t i = from; i < from + together && announced; ++i)
        live.expect_reading(c.samples[i].correlation);
      live.add(std::span(c.t.kernels).subspan(from, together));
    }
    feed_readings(live, c);
    live.judge(no_end);
    auto const found = live.snapshot();
    CHECK(found.valid_readings == 1024);
    CHECK(found.discarded.all() == 0);
  }
}

TEST_CASE("a slowed launch counts as slowed even if its reading is not judged") {
  steps s;
  s.read("k");
  s.run("k", 3);
  auto c = s.trace();
  for (auto& kernel : c.t.kernels)
    if (raw(kernel.correlation) == 3) kernel.duration = 70_us;  // rewritten, group 2
  live_metrics::capacity crowded;
  crowded.waiting_readings = 1;
  for (auto const& limits : {live_metrics::capacity{}, crowded}) {
    auto const found = achieved_in(c, limits);
    CHECK(*row(found.kernels, "k").mean_ns == near(10e3));
    CHECK(row(found.kernels, "k").total_ns == near(60e3));
  }
}

TEST_CASE("a graph is one workload after its first reading") {
  std::vector<event> events;
  for (std::uint32_t launch = 1; launch <= 4; ++launch)
    for (auto const* const name : {"a", "b"}) {
      duration_ns const start{100'000 * launch + (name[0] == 'b' ? 10'000 : 0)};
      events.push_back(kernel(name, start, start + 10_us).correlated(launch));
    }
  counted_trace c(trace_of(std::move(events)));
  for (auto& kernel : c.t.kernels) kernel.graph = static_cast<graph_id>(5);
  c.plan(0, {dram_read_metric, dram_write_metric}).sample(1, 0, {{dram_read_metric, 1e6}});
  c.samples[0].opened = trace_start + 95_us, c.samples[0].closed = trace_start + 125_us;
  live_metrics live(c.t.text());
  feed_definitions(live, c);
  live.expect_reading(c.samples[0].correlation);
  live.add(std::span(c.t.kernels).first(2));
  feed_readings(live, c);
  live.judge(no_end);
  live.add(std::span(c.t.kernels).subspan(2));
  auto const found = live.snapshot();
  CHECK(found.valid_readings == 1);
  auto const& graph = row(found.kernels, "[CUDA graph 5]");
  CHECK(graph.launches == 3);
  CHECK(*graph.mean_ns == near(20e3));
  CHECK(*graph.dram_rate == near(1e6 / 20e-6));
  CHECK(row(found.kernels, "a").launches == 1);  // what came before
}

namespace {

/// Launches of one graph of 20 kernels of 10 us, as its nodes are traced; counters ran around the
/// first `read` of them, which took three times as long.
counted_trace graph_trace(std::uint32_t launches, std::uint32_t read) {
  std::vector<event> events;
  for (std::uint32_t launch = 1; launch <= launches; ++launch)
    for (int node = 0; node < 20; ++node) {
      auto const start = duration_ns{1'000'000ll * launch + 40'000 * node};
      auto const length = launch <= read ? 30_us : 10_us;
      events.push_back(kernel("a", start, start + length).correlated(launch));
    }
  counted_trace c(trace_of(std::move(events)));
  for (auto& kernel : c.t.kernels) kernel.graph = static_cast<graph_id>(5);
  c.plan(0, {dram_read_metric, dram_write_metric});
  for (std::uint32_t launch = 1; launch <= read; ++launch) {
    c.sample(launch, 0, {{dram_read_metric, 2e8}});
    c.samples.back().opened = trace_start + duration_ns{1'000'000ll * launch - 5000};
    c.samples.back().closed = trace_start + duration_ns{1'000'000ll * launch + 850'000};
  }
  return c;
}

std::span<kernel_record const> launch_of(counted_trace const& c, std::size_t launch) {
  return std::span(c.t.kernels).subspan(20 * launch, 20);
}

/// One launch after another, each judged before the next.
achieved_snapshot achieved_one_by_one(counted_trace const& c, bool announced) {
  live_metrics live(c.t.text());
  feed_definitions(live, c);
  for (std::size_t launch = 0; launch < c.t.kernels.size() / 20; ++launch) {
    auto const is_read = launch < c.samples.size();
    if (is_read && announced) live.expect_reading(c.samples[launch].correlation);
    live.add(launch_of(c, launch).first(7));  // batches end anywhere
    live.add(launch_of(c, launch).subspan(7));
    if (is_read) live.add(reading_of(c, launch));
    live.judge(no_end);
  }
  return live.snapshot();
}

}  // namespace

TEST_CASE("a graph has the duration of its launches without counting") {
  for (auto const& [launches, read] : {std::pair{10u, 8u}, {100u, 99u}, {1000u, 8u}}) {
    auto const c = graph_trace(launches, read);
    analyzed const whole(c);
    CHECK(*whole.roofs().by_graph(whole.labels)[0].mean_ns == near(200e3));
    for (bool const announced : {true, false}) {
      auto const found = achieved_one_by_one(c, announced);
      CHECK(found.valid_readings == read);
      auto const& graph = row(found.kernels, "[CUDA graph 5]");
      CHECK(graph.launches == launches - 1);  // the first was known as kernels
      CHECK(*graph.mean_ns == near(200e3));
      CHECK(*graph.dram_rate == near(2e8 / 200e-6));
    }
  }
}

TEST_CASE("mixed kernels of several launches of one graph are assigned correctly") {
  auto const c = graph_trace(4, 3);
  live_metrics live(c.t.text());
  feed_definitions(live, c);
  live.expect_reading(c.samples[0].correlation);
  live.add(launch_of(c, 0));
  live.add(reading_of(c, 0));
  live.judge(no_end);
  live.expect_reading(c.samples[1].correlation);
  for (std::size_t node = 0; node < 20; ++node)
    for (std::size_t launch = 1; launch < 4; ++launch)
      live.add(launch_of(c, launch).subspan(node, 1));
  live.expect_reading(c.samples[2].correlation);
  auto const found = live.snapshot();
  auto const& graph = row(found.kernels, "[CUDA graph 5]");
  CHECK(graph.launches == 3);
  CHECK(*graph.mean_ns == near(200e3));
}

TEST_CASE("counters around a launch not known as a graph launch do not affect the graph") {
  auto const c = graph_trace(2, 2);
  live_metrics live(c.t.text());
  feed_definitions(live, c);
  live.expect_reading(c.samples[0].correlation);
  live.add(c.t.kernels);
  live.add(reading_of(c, 0));
  live.judge(no_end);
  live.add(reading_of(c, 1));  // of a launch whose kernels came before the graph was known
  live.judge(no_end);
  auto const later = graph_trace(3, 0);
  live.add(launch_of(later, 2));
  auto const found = live.snapshot();
  CHECK(row(found.kernels, "[CUDA graph 5]").launches == 1);
  CHECK(*row(found.kernels, "[CUDA graph 5]").mean_ns == near(200e3));
  CHECK(*row(found.kernels, "a").mean_ns < 31e3);
}

TEST_CASE("workloads and ranges beyond the capacity appear as (other), without counts") {
  steps s;
  s.read("k0");
  s.run("k0");
  auto const start = s.now;
  for (int i = 1; i < 20; ++i) s.run(numbered("k", i));
  s.events.push_back(range("many", start, s.now));
  for (int i = 0; i < 20; ++i) {
    s.events.push_back(range(numbered("r", i), s.now, s.now + 30_us));
    s.run("k0");
  }
  live_metrics::capacity limits;
  limits.workloads.workloads = 4;
  limits.workloads.range_names = 6;
  limits.workloads.paths = 5;
  auto const live = achieved_in(s.trace(), limits);
  CHECK(live.kernels.size() == 5);
  CHECK(row(live.kernels, "(other)").launches == 16);
  CHECK(live.all.launches == 4 + 19 + 20);
  CHECK(live.all.exact_share == near(24. / 43));
  CHECK(live.ranges.size() == 5);  // and k0 of the others is in no range
  CHECK(row(live.ranges, "many").launches == 19);
  CHECK(row(live.ranges, "many").exact_share == 0);
  CHECK(live.ranges_left_out == 16);
}

TEST_CASE("a reading that is too late to be judged, or beyond the capacity, is left out") {
  steps s;
  s.read("k");
  s.run("k", 400);
  auto const c = s.trace();
  live_metrics::capacity small;
  small.neighbors = {.recent = 8, .launches = 2};
  live_metrics live(c.t.text(), small);
  feed_definitions(live, c);
  feed_work(live, c);
  feed_readings(live, c);
  live.judge(no_end);
  CHECK(live.snapshot().valid_readings == 0);
  CHECK(live.snapshot().discarded.without_kernel == 3);
  // Announced, two of the three are kept however much comes after them.
  CHECK(achieved_in(c, small).valid_readings == 2);

  small = {};
  small.waiting_readings = 1;
  auto const crowded = achieved_in(c, small);
  CHECK(crowded.valid_readings == 1);
  CHECK(crowded.readings_forgotten == 2);
}

TEST_CASE("of neighbors that were dropped the latest end is remembered") {
  // A kernel that began first and ended in the window, and many short ones since.
  std::vector<event> events = {kernel("long", 0_us, 1'002_us).correlated(500)};
  for (std::uint32_t i = 0; i < 50; ++i)
    events.push_back(
        kernel("short", duration_ns{10'000 * (i + 1)}, duration_ns{10'000 * (i + 1) + 500})
            .correlated(i + 1));
  events.push_back(kernel("k", 1'005_us, 1'010_us).correlated(77));
  counted_trace c(trace_of(std::move(events)));
  c.plan(0, {dram_read_metric, dram_write_metric}).sample(77, 0, {{dram_read_metric, 7e6}});
  live_metrics::capacity small;
  small.neighbors.recent = 8;
  CHECK(achieved_in(c, small).discarded.beside_kernels == 1);
}

TEST_CASE("live snapshots taken while another thread adds are each consistent") {
  auto const step = counted_step().with_peaks();
  live_metrics live(step.t.text());
  feed_definitions(live, step);
  for (auto const& begin : step.t.begins) live.add(begin);
  std::atomic<bool> stop{false};
  std::thread adding([&] {
    while (!stop) {
      live.add(step.t.kernels);
      feed_readings(live, step);
      live.judge(no_end);
    }
  });
  while (live.snapshot().valid_readings == 0) std::this_thread::yield();
  bool consistent = true;
  for (int i = 0; i < 50; ++i) {
    auto const found = live.snapshot();
    std::uint64_t launches = 0;
    for (auto const& kernel : found.kernels) launches += kernel.launches;
    consistent =
        consistent && launches == found.all.launches && launches % step.t.kernels.size() == 0;
  }
  stop = true;
  adding.join();
  CHECK(consistent);
}

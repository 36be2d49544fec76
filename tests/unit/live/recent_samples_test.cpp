// SPDX-License-Identifier: Apache-2.0
#include "guest/live/recent_samples.hpp"

#include "guest/live/live_metrics.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"
#include "support/simulated_gpu.hpp"

#include <chrono>
#include <iostream>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

constexpr timestamp_ns end_of_time{~std::uint64_t{0}};
constexpr duration_ns window_length = 50_ms;

struct kernel_kind {
  char const* name;
  double us;
  work_load load;
};
constexpr kernel_kind kinds[] = {{"copy", 9, {20e6, 40, 0}},
                                 {"gemm", 31, {6e6, 20, 40e3}},
                                 {"softmax", 5, {2e6, 60, 0}},
                                 {"long", 160, {100e6, 30, 20e3}}};

/// Kernels of all kinds in random order for so long.
simulated_gpu mix(unsigned seed, double ms) {
  simulated_gpu gpu(seed);
  while (gpu.now_us() < ms * 1000) {
    auto const& of = kinds[gpu.toss(0.03) ? 3 : gpu.one_of(3)];
    gpu.run(of.name, of.us * gpu.uniform(0.97, 1.03), of.load).wait(gpu.uniform(0.5, 8));
  }
  return gpu;
}

/// A window of `window_length` every so often, as far as there are samples.
std::vector<sampling_window_record> windows_in(counted_trace const& c, duration_ns every) {
  std::vector<sampling_window_record> made;
  for (auto start = trace_start + 5_ms; start + window_length < c.windows.front().end;
       start = start + every) {
    made.push_back(c.windows.front());
    made.back().start = start;
    made.back().end = start + window_length;
  }
  return made;
}

std::vector<sample_record> samples_in(counted_trace const& c,
                                      sampling_window_record const& window) {
  std::vector<sample_record> made;
  for (auto const& row : c.rows)
    if (row.start >= window.start && row.start + row.duration <= window.end) made.push_back(row);
  return made;
}

void define(recent_samples& of, counted_trace const& c) {
  for (auto const& metric : c.metrics) of.define(metric, c.t.names.text(metric.name));
}
void add_work(recent_samples& to, counted_trace const& c) {
  for (auto const& kernel : c.t.kernels) to.add(kernel, false);
  for (auto const& copy : c.t.copies) to.add(copy);
}
void add_window(recent_samples& to, counted_trace const& c, sampling_window_record const& window) {
  to.add({&window, 1}, samples_in(c, window));
}

/// Of the next window whose work is complete.
sampled_figures what_is_said(recent_samples& by, timestamp_ns complete_until) {
  auto const window = by.take_complete(complete_until);
  return window ? window->divide() : sampled_figures();
}

recent_samples::capacity no_pause() {
  recent_samples::capacity limits;
  limits.pause = {};
  return limits;
}

workload_id workload_of(counted_trace const& c, std::string_view kernel) {
  for (auto const& shape : c.t.shapes)
    if (c.t.names.text(shape.name) == kernel) return {c.device.device, shape.id, {}};
  return {};
}

/// Of all windows, each judged on its own.
sampled_figures figures_in(counted_trace const& c, duration_ns every) {
  recent_samples samples(no_pause());
  define(samples, c);
  add_work(samples, c);
  sampled_figures known;
  for (auto const& window : windows_in(c, every)) {
    add_window(samples, c, window);
    known.take(what_is_said(samples, end_of_time), 100);
  }
  CHECK(samples.passed_over() == 0);
  return known;
}

struct calibration {
  std::size_t all = 0, inside_two = 0, inside_three = 0;  // errors
  double worst = 0;                                       // share of the truth
};

void calibrate(calibration& result, counted_trace const& c, sampled_figures const& known) {
  for (auto const& kind : kinds)
    for (auto const& [metric, is] :
         {std::pair{dram_read_metric, kind.load.bytes}, {occupancy_metric, kind.load.occupancy}}) {
      auto const* const figure = known.find(workload_of(c, kind.name), metric);
      if (figure == nullptr) continue;
      auto const off = std::abs(figure->mean - is);
      ++result.all;
      result.inside_two += off <= 2 * figure->error;
      result.inside_three += off <= 3 * figure->error;
      result.worst = std::max(result.worst, off / is);
    }
}

calibration calibrated(bool slow_starts) {
  calibration result;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    auto gpu = mix(seed, 1100);
    if (slow_starts) gpu.starting_slowly();
    auto const c = gpu.with_jitter(0.1).with_variation(0.05).with_idle_rate(50).sampled();
    calibrate(result, c, figures_in(c, 100_ms));
  }
  std::cout << "ten windows of a running program: within 2 errors " << result.inside_two
            << ", within 3 " << result.inside_three << " of " << result.all << "; at most "
            << 100 * result.worst << "% off\n";
  return result;
}

}  // namespace

TEST_CASE("figures of windows added one by one contain the truth as often as their errors promise",
          "[many trials]") {
  auto const result = calibrated(false);
  CHECK(result.all == 160);
  CHECK(result.inside_two > 0.93 * 160);
  CHECK(result.inside_three > 0.98 * 160);
  CHECK(result.worst < 0.05);
}

TEST_CASE("figures of kernels that start slowly are nearly as accurate", "[many trials]") {
  auto const result = calibrated(true);
  CHECK(result.all == 160);
  CHECK(result.inside_two > 0.85 * 160);
  CHECK(result.worst < 0.05);
}

TEST_CASE("work may come before the samples of its window, or after") {
  auto const c = mix(1, 100).sampled();
  auto const window = windows_in(c, 1000_ms).front();
  auto const mean_of = [&](sampled_figures const& known) {
    auto const* const figure = known.find(workload_of(c, "copy"), dram_read_metric);
    return figure == nullptr ? 0 : figure->mean;
  };
  recent_samples before(no_pause());
  define(before, c);
  add_work(before, c);
  add_window(before, c, window);
  auto const known = mean_of(what_is_said(before, end_of_time));
  CHECK(known == Approx(20e6).epsilon(0.05));

  recent_samples after(no_pause());
  define(after, c);
  add_window(after, c, window);
  CHECK(what_is_said(after, window.start).empty());
  add_work(after, c);
  CHECK(what_is_said(after, {window.end.value - 1}).empty());
  CHECK(mean_of(what_is_said(after, window.end)) == known);
  CHECK(what_is_said(after, end_of_time).empty());  // once
  CHECK(after.taken() == 1);
}

TEST_CASE("samples come while their window lasts") {
  auto const c = mix(1, 100).sampled();
  auto const window = windows_in(c, 1000_ms).front();
  recent_samples at_once(no_pause()), in_parts(no_pause());
  for (auto* const samples : {&at_once, &in_parts}) {
    define(*samples, c);
    add_work(*samples, c);
  }
  add_window(at_once, c, window);
  auto const all = samples_in(c, window);
  auto const half = window.start + 20_ms;
  std::vector<sample_record> first, second;
  for (auto const& sample : all) (sample.start < half ? first : second).push_back(sample);
  in_parts.add({}, first);
  in_parts.add({&window, 1}, second);
  auto const one = what_is_said(at_once, end_of_time), other = what_is_said(in_parts, end_of_time);
  for (auto const& kind : kinds) {
    auto const workload = workload_of(c, kind.name);
    REQUIRE(one.find(workload, dram_read_metric) != nullptr);
    REQUIRE(other.find(workload, dram_read_metric) != nullptr);
    CHECK(one.find(workload, dram_read_metric)->mean ==
          other.find(workload, dram_read_metric)->mean);
  }
}

TEST_CASE("windows that come while one waits, or soon after one, are skipped") {
  auto const c = mix(1, 2500).sampled();
  auto const windows = windows_in(c, 100_ms);
  recent_samples samples;
  define(samples, c);
  add_work(samples, c);
  add_window(samples, c, windows[0]);
  add_window(samples, c, windows[1]);
  CHECK_FALSE(what_is_said(samples, end_of_time).empty());
  CHECK(samples.passed_over() == 1);
  for (std::size_t i = 2; i < windows.size(); ++i) {
    add_window(samples, c, windows[i]);
    what_is_said(samples, end_of_time);
  }
  CHECK(samples.taken() == 3);  // at 5, 1005 and 2005 ms
  CHECK(samples.taken() + samples.passed_over() == windows.size());
}

TEST_CASE("if several GPUs are sampled, each has its turn") {
  auto const c = mix(1, 4200).sampled();
  recent_samples::capacity limits;
  limits.work = 1'000'000;  // all of it comes before the first window
  recent_samples samples(limits);
  define(samples, c);
  for (auto metric : c.metrics) {
    metric.metric = static_cast<metric_id>(raw(metric.metric) + 100);
    metric.device = static_cast<device_id>(1);
    samples.define(metric, c.t.names.text(metric.name));
  }
  add_work(samples, c);
  auto second = c.t.kernels;
  for (auto& kernel : second) {
    kernel.device = static_cast<device_id>(1);
    samples.add(kernel, false);
  }
  sampled_figures known;
  for (auto const& window : windows_in(c, 250_ms)) {
    sampling_window_record both[] = {window, window};
    both[1].device = static_cast<device_id>(1);
    auto rows = samples_in(c, window);
    auto const count = rows.size();
    for (std::size_t i = 0; i < count; ++i) {
      rows.push_back(rows[i]);
      rows.back().metric = static_cast<metric_id>(raw(rows[i].metric) + 100);
      rows.back().value *= 2;
    }
    samples.add(both, rows);
    known.take(what_is_said(samples, end_of_time), 100);
  }
  known.take(what_is_said(samples, end_of_time), 100);
  CHECK(samples.taken() == 6);  // three of each in 4.2 s
  auto workload = workload_of(c, "copy");
  CHECK(known.find(workload, dram_read_metric)->mean == Approx(20e6).epsilon(0.05));
  workload.device = static_cast<device_id>(1);
  CHECK(known.find(workload, dram_read_metric)->mean == Approx(40e6).epsilon(0.05));
}

TEST_CASE("a window is skipped if its work was replaced by later work") {
  auto const c = mix(1, 200).sampled();
  auto const window = windows_in(c, 1000_ms).front();
  auto limits = no_pause();
  limits.work = c.t.kernels.size() / 2;
  recent_samples samples(limits);
  define(samples, c);
  add_work(samples, c);
  add_window(samples, c, window);
  CHECK(what_is_said(samples, end_of_time).empty());
  CHECK(samples.passed_over() == 1);
}

TEST_CASE("a window whose work is gone is replaced by one whose work is still there") {
  auto const c = mix(1, 300).sampled();
  auto const windows = windows_in(c, 100_ms);
  auto limits = no_pause();
  limits.work = c.t.kernels.size() / 2;
  recent_samples samples(limits);
  define(samples, c);
  add_window(samples, c, windows[0]);
  add_work(samples, c);
  add_window(samples, c, windows[2]);
  CHECK_FALSE(what_is_said(samples, end_of_time).empty());
  CHECK((samples.taken() == 1 && samples.passed_over() == 1));
}

TEST_CASE("a window with lost records is skipped, later ones are not") {
  auto const c = mix(1, 300).sampled();
  auto const windows = windows_in(c, 100_ms);
  recent_samples samples(no_pause());
  define(samples, c);
  add_work(samples, c);
  add_window(samples, c, windows[0]);
  samples.lose_records();
  CHECK(what_is_said(samples, end_of_time).empty());
  add_window(samples, c, windows[1]);
  CHECK_FALSE(what_is_said(samples, end_of_time).empty());
  CHECK((samples.taken() == 1 && samples.passed_over() == 1));
}

TEST_CASE("after filters leave out work no window gives figures") {
  auto const c = mix(1, 300).sampled();
  recent_samples samples(no_pause());
  define(samples, c);
  add_work(samples, c);
  samples.give_up();
  add_work(samples, c);
  for (auto const& window : windows_in(c, 100_ms)) add_window(samples, c, window);
  CHECK(what_is_said(samples, end_of_time).empty());
  CHECK(samples.taken() == 0);
}

TEST_CASE("work after a capture has no record, and its samples are not used") {
  auto gpu = mix(1, 40);
  gpu.run_unseen_at(41'000, 50'000, {5000e6, 90, 0}).wait(51'000);
  auto const c = gpu.sampled();
  auto const window = windows_in(c, 1000_ms).front();
  recent_samples samples(no_pause());
  samples.open_capture(trace_start);
  samples.close_capture(trace_start + 40_ms);
  define(samples, c);
  add_work(samples, c);
  add_window(samples, c, window);
  auto const known = what_is_said(samples, end_of_time);
  auto const* const figure = known.find(workload_of(c, "copy"), dram_read_metric);
  REQUIRE(figure != nullptr);
  CHECK(std::abs(figure->mean - 20e6) < 3 * figure->error);
}

TEST_CASE("kernels of a graph that is one workload count as one launch, even beyond the window") {
  simulated_gpu gpu(3);
  std::vector<std::uint32_t> launch_of;
  for (std::uint32_t launch = 0; gpu.now_us() < 70'000; ++launch) {
    for (int part = 0; part < 3; ++part, launch_of.push_back(launch + 1))
      gpu.run("part", gpu.uniform(60, 90), {3e6, 50, 0});
    gpu.wait(gpu.uniform(40, 100));
  }
  auto const c = gpu.sampled();
  recent_samples samples(no_pause());
  define(samples, c);
  for (std::size_t i = 0; i < c.t.kernels.size(); ++i) {
    auto kernel = c.t.kernels[i];
    kernel.correlation = static_cast<correlation_id>(launch_of[i]);
    kernel.graph = static_cast<graph_id>(7);
    samples.add(kernel, true);
  }
  add_window(samples, c, windows_in(c, 1000_ms).front());
  auto const known = what_is_said(samples, end_of_time);
  CHECK(known.workloads() == 1);
  auto const* const figure =
      known.find({c.device.device, {}, static_cast<graph_id>(7)}, dram_read_metric);
  REQUIRE(figure != nullptr);
  CHECK(figure->mean == Approx(9e6).epsilon(0.03));
}

TEST_CASE("a limited number of kernels of a window is separated, those that ran longest") {
  simulated_gpu gpu(1);
  for (int i = 0; i < 6000; ++i) {  // none has a sample to itself but gemm
    auto const& of = kinds[i % 3];
    gpu.run(of.name, of.us * gpu.uniform(0.97, 1.03), of.load).wait(gpu.uniform(0.5, 2));
  }
  auto const c = gpu.sampled();
  auto limits = no_pause();
  limits.unknowns = 7;  // two kernels, and one column to spare
  recent_samples samples(limits);
  define(samples, c);
  add_work(samples, c);
  add_window(samples, c, windows_in(c, 1000_ms).front());
  auto const known = what_is_said(samples, end_of_time);
  CHECK(known.find(workload_of(c, "gemm"), active_cycles_metric) != nullptr);
  CHECK(known.find(workload_of(c, "copy"), active_cycles_metric) != nullptr);
  CHECK(known.find(workload_of(c, "softmax"), active_cycles_metric) == nullptr);
  CHECK(known.find(workload_of(c, "softmax"), clock_metric) != nullptr);
}

TEST_CASE("memory does not grow with days of kernels") {
  auto const c = mix(1, 100).sampled();
  recent_samples samples;
  define(samples, c);
  kernel_record kernel;
  kernel.duration = 5_us;
  auto const run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      kernel.start = kernel.start + 10_us;
      samples.add(kernel, false);
    }
  };
  run(1);
  auto const before = allocations();
  run(1'000'000);
  CHECK(allocations() == before);
}

TEST_CASE("samples of windows without an end are dropped") {
  auto const c = mix(1, 100).sampled();
  auto limits = no_pause();
  limits.values = 1000;
  recent_samples samples(limits);
  define(samples, c);
  add_work(samples, c);
  for (int i = 0; i < 10; ++i) samples.add({}, c.rows);
  auto const before = allocations();
  for (int i = 0; i < 100; ++i) samples.add({}, c.rows);
  CHECK(allocations() == before);
}

TEST_CASE("a sampled program has live metrics of its kernels and ranges") {
  auto gpu = mix(1, 100);
  gpu.range_at("step", 0, 100'000);
  auto c = gpu.sampled();
  live_metrics live(c.t.text());
  live.add(c.device);
  for (auto const& metric : c.metrics) live.add(metric);
  for (auto const& shape : c.t.shapes) live.add(shape);
  live.add(window_record{1, trace_start, {}, {}});
  for (auto const& begin : c.t.begins) live.add(begin);
  live.add(c.t.kernels);
  for (auto const& end : c.t.ends) live.add(end);
  live.add(sampling_results{c.windows, c.rows});
  live.judge(end_of_time);
  auto const now = live.snapshot();
  CHECK(now.sampled_windows == 1);
  REQUIRE(now.ranges.size() == 1);
  for (auto const& kind : kinds) {
    auto const* const row = row_named(now.kernels, kind.name);
    REQUIRE(row != nullptr);
    REQUIRE((row->l2_rate.has_value() == false && row->occupancy && row->clock));
    CHECK(*row->occupancy == Approx(kind.load.occupancy / 100).epsilon(0.05));
    CHECK(*row->clock == Approx(simulated_clock).epsilon(0.01));
    CHECK(row->exact_share == 0);
    CHECK(row->from.occupancy != figure_source::exact);
  }
  CHECK(now.ranges.front().clock);

  live.leave_out_work();
  CHECK_FALSE(live.snapshot().all.clock);
}

TEST_CASE("windows are attributed on request, and only the latest of them") {
  auto const c = mix(1, 600).sampled();
  live_metrics::capacity limits;
  limits.samples = no_pause();
  limits.kept_windows = 3;
  live_metrics live(c.t.text(), limits);
  for (auto const& metric : c.metrics) live.add(metric);
  for (auto const& shape : c.t.shapes) live.add(shape);
  live.add(window_record{1, trace_start, {}, {}});
  live.add(c.t.kernels);
  auto const windows = windows_in(c, 100_ms);
  REQUIRE(windows.size() == 6);
  auto const add = [&](sampling_window_record const& window) {
    live.add(sampling_results{{window}, samples_in(c, window)});
    live.judge(end_of_time);
  };
  for (std::size_t i = 0; i < 5; ++i) add(windows[i]);
  auto const first = live.snapshot();
  CHECK(first.sampled_windows == 3);
  CHECK(first.windows_passed_over == 2);
  CHECK(first.all.clock);
  CHECK(live.snapshot().sampled_windows == 3);  // each once
  add(windows[5]);
  CHECK(live.snapshot().sampled_windows == 4);
}

TEST_CASE("windows that are never requested take bounded memory") {
  auto const c = mix(1, 600).sampled();
  auto const windows = windows_in(c, 100_ms);
  live_metrics::capacity limits;
  limits.samples = no_pause();
  limits.kept_window_bytes = 1;  // the latest stays all the same
  live_metrics live(c.t.text(), limits);
  for (auto const& metric : c.metrics) live.add(metric);
  live.add(window_record{1, trace_start, {}, {}});
  live.add(c.t.kernels);
  for (auto const& window : windows) {
    live.add(sampling_results{{window}, samples_in(c, window)});
    live.judge(end_of_time);
  }
  CHECK(live.snapshot().sampled_windows == 1);
}

TEST_CASE("the cost of attributing one window", "[.][cost]") {
  auto const names = GENERATE(30, 100, 300);
  constexpr int metric_count = 8, interval_count = 2500;
  simulated_gpu gpu(1);
  for (int i = 0; i < 10'000; ++i)
    gpu.run(numbered("k", gpu.one_of(names)), gpu.uniform(3, 6), {1e6, 50, 100})
        .wait(gpu.uniform(0, 1));
  auto c = gpu.sampled(gpu.now_us() / interval_count);
  for (int more = static_cast<int>(c.metrics.size()); more < metric_count; ++more) {
    c.plan(0, {numbered("dram__bytes_of_", more) + ".sum"});
    c.metrics.back().sampled = true;
    auto const from = c.rows.size() / static_cast<std::size_t>(more);
    for (std::size_t i = 0; i < from * 5; i += 5) {
      auto row = c.rows[i];
      row.metric = c.metrics.back().metric;
      c.rows.push_back(row);
    }
  }
  auto const seconds_of = [](auto run) {
    auto const from = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
  };
  for (int turn = 0; turn < 5; ++turn) {
    recent_samples samples(no_pause());
    define(samples, c);
    add_work(samples, c);
    recent_samples full(no_pause());
    for (int i = 0; i < 30; ++i) add_work(full, c);
    auto const adding = seconds_of([&] { add_work(full, c); });
    auto const taking = seconds_of([&] { samples.add(c.windows, c.rows); });
    std::size_t workloads = 0;
    auto const judging =
        seconds_of([&] { workloads = what_is_said(samples, end_of_time).workloads(); });
    std::cout << c.t.kernels.size() << " kernels, " << c.rows.size() << " values, " << workloads
              << " workloads: " << 1e9 * adding / static_cast<double>(c.t.kernels.size())
              << " ns a kernel, " << 1e3 * taking << " ms to take the samples, " << 1e3 * judging
              << " ms to divide them\n";
  }
}

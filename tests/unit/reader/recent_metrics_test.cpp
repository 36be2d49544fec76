// SPDX-License-Identifier: Apache-2.0
// What libgpuprof-capture.so tells a program about the capture that the program writes.
#include "model/recent_metrics.hpp"

#include <gpuprof/gpuprof.h>

#include "support/analyzed.hpp"
#include "support/counted_capture.hpp"
#include "support/scratch_folder.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <string>

extern "C" gpuprof::recent_metrics_reader const gpuprof_recent_metrics_v1;

using namespace gpuprof;
using namespace gpuprof::test;

namespace {

constexpr std::uint64_t no_end = ~std::uint64_t{0};
constexpr std::uint64_t second = 1'000'000'000;

struct frees {
  void operator()(gpuprof_metrics const* metrics) const {
    gpuprof_recent_metrics_v1.release(metrics);
  }
};
using taken_metrics = std::unique_ptr<gpuprof_metrics const, frees>;

taken_metrics metrics_of(counted_trace const& c, recent_part part = {10 * second, no_end}) {
  scratch_folder scratch;
  write_capture(scratch / "a.gpuprof", c);
  std::array<char, 200> why{};
  taken_metrics made(gpuprof_recent_metrics_v1.take((scratch / "a.gpuprof").c_str(), part,
                                                    why.data(), why.size()));
  INFO(why.data());
  REQUIRE(made);
  return made;
}

gpuprof_achieved const& line(gpuprof_achieved const* const* lines, std::size_t count,
                             std::string const& name) {
  for (std::size_t i = 0; i < count; ++i)
    if (lines[i]->name == name) return *lines[i];
  FAIL("there is no line " + name);
  return **lines;
}
gpuprof_achieved const& kernel_line(taken_metrics const& of, std::string const& name) {
  return line(of->kernels, of->kernel_name_count, name);
}

void check_same(double one, std::optional<double> const& other) {
  CHECK(std::isnan(one) == !other);
  if (other) CHECK(one == Approx(*other).epsilon(1e-9));
}

void check_same(gpuprof_achieved const& live, roofline_row const& read) {
  INFO(read.name);
  CHECK(live.struct_size == sizeof(gpuprof_achieved));
  CHECK(live.launch_count == read.launches);
  CHECK(live.seconds == Approx(read.total_ns / 1e9).epsilon(1e-9));
  CHECK(live.exact_share == Approx(read.exact_share).epsilon(1e-9));
  CHECK(live.reading_count == read.samples);
  CHECK(int{live.flops_source} == int(read.source));
  check_same(live.flops, read.total_flops);
  check_same(live.dram_bytes_per_second, read.dram_rate);
  check_same(live.l2_bytes_per_second, read.l2_rate);
  check_same(live.sm_clock_hz, read.clock);
  check_same(live.occupancy, read.occupancy);
  check_same(live.tensor_active, read.tensor_active);
  check_same(live.of_peak, read.of_roof);
  std::size_t known = 0;
  for (std::size_t p = 0; p < precision_count; ++p) {
    if (!read.flops[p]) continue;
    REQUIRE(known < live.precision_count);
    CHECK(int{live.precisions[known]->precision} == static_cast<int>(p));
    check_same(live.precisions[known++]->flops, read.flops[p]);
  }
  CHECK(known == live.precision_count);
}

/// A kernel of 10 us in each of 100 seconds. Only the first launch is read: 7 MB.
counted_trace one_launch_a_second() {
  std::vector<event> events;
  for (std::uint32_t i = 0; i < 100; ++i) {
    duration_ns const begin{static_cast<std::int64_t>((i + 1) * second)};
    events.push_back(range("step", begin, begin + 20_us));
    events.push_back(kernel("k", begin + 2_us, begin + 12_us).correlated(i + 1));
  }
  counted_trace c(trace_of(std::move(events)));
  c.captured_until = trace_start + duration_ns{static_cast<std::int64_t>(200 * second)};
  c.plan(0, {dram_read_metric, dram_write_metric}).sample(1, 0, {{dram_read_metric, 7e6}}, 1_us);
  return c;
}

}  // namespace

TEST_CASE("recent metrics of a short capture are those of its roofline") {
  auto const step = counted_step().with_peaks();
  analyzed const read(step);
  auto const live = metrics_of(step);
  auto const kernels = read.by_kernel();
  REQUIRE(live->kernel_name_count == kernels.size());
  check_same(kernel_line(live, "_Z4gemmPK13__nv_bfloat16S1_Pfi"), kernels[0]);
  for (auto const* const name : {"copy", "axpy", "tiny<a&b>", "unknown"})
    check_same(kernel_line(live, name), *row_named(kernels, name));
  auto const ranges = read.by_range();
  REQUIRE(live->range_name_count == ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) check_same(*live->ranges[i], ranges[i]);
  CHECK(live->struct_size == sizeof(gpuprof_metrics));
  CHECK(live->all->seconds == Approx(read.roofs().gpu_ns() / 1e9));
  CHECK(live->all->exact_share == Approx(read.roofs().exact_share()));
  CHECK(live->reading_count == 12);
  CHECK(live->unused_reading_count == 0);
  CHECK(live->has_peaks == 1);
}

TEST_CASE("recent metrics count the launches of the last seconds, with readings of earlier ones") {
  auto const live = metrics_of(one_launch_a_second());
  CHECK(live->all->launch_count == 11);  // the last one began 10 s after the first of them
  CHECK(kernel_line(live, "k").launch_count == 11);
  CHECK(kernel_line(live, "k").dram_bytes_per_second == Approx(7e6 / 10e-6));
  CHECK(line(live->ranges, live->range_name_count, "step").launch_count == 11);
  CHECK(line(live->ranges, live->range_name_count, "step").seconds == Approx(110e-6));
  CHECK(live->reading_count == 1);
}

TEST_CASE("recent metrics end where the capture may not be complete yet") {
  auto const c = one_launch_a_second();
  auto const until = [](std::uint64_t seconds) {
    return recent_part{10 * second, trace_start.value + seconds * second};
  };
  CHECK(metrics_of(c, until(30))->all->launch_count == 10);
  CHECK(metrics_of(c, {10 * second, 0})->all->launch_count == 0);
  auto const early = metrics_of(c, {10 * second, c.samples[0].closed.value - 1});
  CHECK(early->reading_count == 0);
  CHECK(early->unused_reading_count == 0);
}

TEST_CASE("samples of the last seconds give recent metrics, and earlier ones do not") {
  std::vector<event> events;
  for (std::uint32_t i = 0; i < 20; ++i) {
    auto const begin = 1_ms + duration_ns{i * 300'000};
    events.push_back(kernel("k", begin, begin + 200_us).correlated(i + 1));
  }
  counted_trace c(trace_of(std::move(events)));
  c.captured_until = trace_start + 10_ms;
  c.sample_in_time(0, dram_read_metric, 20, 4000).sample_in_time(0, dram_write_metric, 20, 1000);
  for (auto& row : c.rows)
    if (row.start >= trace_start + 4_ms) row.value *= 2;
  auto const rate = [](taken_metrics const& of) {
    return kernel_line(of, "k").dram_bytes_per_second / (5000 / 20e-6);
  };
  auto const whole = metrics_of(c);
  CHECK(whole->all->launch_count == 20);
  CHECK(rate(whole) == Approx(1.5).epsilon(0.01));
  auto const end = metrics_of(c, {2'700'000, no_end});
  CHECK(end->all->launch_count == 10);
  CHECK(rate(end) == Approx(2).epsilon(0.01));
  auto const begin = metrics_of(c, {10 * second, trace_start.value + 3'900'000});
  CHECK(begin->all->launch_count == 10);
  CHECK(rate(begin) == Approx(1).epsilon(0.01));
}

TEST_CASE("a capture that cannot be read gives no recent metrics, but a reason") {
  scratch_folder const scratch;
  std::array<char, 200> why{};
  CHECK(gpuprof_recent_metrics_v1.take((scratch / "none.gpuprof").c_str(), {}, why.data(),
                                       why.size()) == nullptr);
  CHECK_THAT(why.data(), Catch::Matchers::Contains("none.gpuprof"));
}

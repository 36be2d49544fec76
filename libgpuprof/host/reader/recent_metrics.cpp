// SPDX-License-Identifier: Apache-2.0
// Computes what gpuprof_take_metrics() gives: the roofline of the last seconds of a capture that is
// still being written.
#include "model/recent_metrics.hpp"

#include <gpuprof/gpuprof.h>

#include "host/reading/recent_part.hpp"
#include "host/reading/roofline_reading.hpp"

#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host {
namespace {

// The header has the same values as the reports.
static_assert(int{GPUPROF_PRECISION_FP8} == int(precision::fp8));
static_assert(int{GPUPROF_PRECISION_TENSOR_INT8} == int(precision::tensor_int8));
static_assert(precision_count == GPUPROF_PRECISION_TENSOR_INT8 + 1, "add it to gpuprof_precision");
static_assert(int{GPUPROF_FLOPS_COUNTED} == int(flop_source::counted));
static_assert(int{GPUPROF_FLOPS_TENSOR_COUNTED} == int(flop_source::tensor_counted));
static_assert(int{GPUPROF_FLOPS_SAMPLED} == int(flop_source::sampled));
static_assert(int{GPUPROF_FLOPS_TENSOR_CYCLES} == int(flop_source::tensor_cycles));
static_assert(int{GPUPROF_FLOPS_MACHINE_CODE} == int(flop_source::machine_code));
static_assert(int{GPUPROF_FLOPS_DECLARED} == int(flop_source::declared));

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// One line with the texts and rates it points to. Lines do not move.
struct owned_line {
  gpuprof_achieved view{};
  std::string name;
  std::vector<gpuprof_precision_rate> rates;
  std::vector<gpuprof_precision_rate const*> listed_rates;
};

struct owned_metrics final : gpuprof_metrics {
  std::deque<owned_line> lines;
  std::vector<gpuprof_achieved const*> listed_ranges, listed_kernels;
};

/// Returns the share of a roof: DRAM, L2 or a precision `p`.
std::optional<double> share_of(roofline_row const& row, bound_by::kind roof, std::size_t p = 0) {
  for (std::size_t i = 0; i < roof_count; ++i)
    if (roof_of(i) == bound_by{roof, static_cast<precision>(p)}) return row.shares[i];
  return std::nullopt;
}

gpuprof_bound bound_of(bound_by const& bound) noexcept {
  switch (bound.what) {
    case bound_by::kind::latency:
      return GPUPROF_BOUND_LATENCY;
    case bound_by::kind::dram:
      return GPUPROF_BOUND_DRAM;
    case bound_by::kind::l2:
      return GPUPROF_BOUND_L2;
    case bound_by::kind::compute:
      return static_cast<gpuprof_bound>(GPUPROF_BOUND_FP64 + static_cast<int>(bound.of));
    case bound_by::kind::unknown:
      break;
  }
  return GPUPROF_BOUND_UNKNOWN;
}

void add_precisions(owned_line& line, roofline_row const& row) {
  for (std::size_t p = 0; p < precision_count; ++p)
    if (row.flops[p])
      line.rates.push_back({sizeof(gpuprof_precision_rate), static_cast<gpuprof_precision>(p),
                            *row.flops[p],
                            share_of(row, bound_by::kind::compute, p).value_or(unknown)});
  for (auto const& rate : line.rates) line.listed_rates.push_back(&rate);
}

gpuprof_achieved const* add_line(owned_metrics& to, roofline_row const& row) {
  auto& line = to.lines.emplace_back();
  line.name = row.name;
  add_precisions(line, row);
  line.view = {.struct_size = sizeof(gpuprof_achieved),
               .name = line.name.c_str(),
               .launch_count = row.launches,
               .seconds = row.total_ns / 1e9,
               .exact_share = row.exact_share,
               .reading_count = row.samples,
               .flops = row.total_flops.value_or(unknown),
               .flops_source = static_cast<gpuprof_flops_source>(row.source),
               .precisions = line.listed_rates.data(),
               .precision_count = line.listed_rates.size(),
               .dram_bytes_per_second = row.dram_rate.value_or(unknown),
               .l2_bytes_per_second = row.l2_rate.value_or(unknown),
               .sm_clock_hz = row.clock.value_or(unknown),
               .occupancy = row.occupancy.value_or(unknown),
               .tensor_active = row.tensor_active.value_or(unknown),
               .dram_of_peak = share_of(row, bound_by::kind::dram).value_or(unknown),
               .l2_of_peak = share_of(row, bound_by::kind::l2).value_or(unknown),
               .of_peak = row.of_roof.value_or(unknown),
               .bound_by = bound_of(row.bound)};
  return &line.view;
}

/// Ranges of both styles with one name are one line.
range_key listed_by_text(traced_range const& range) noexcept {
  return {range.name, range.domain, {}};
}

/// Adds up all kernels. A graph whose kernels are recorded counts by them.
range_work everything(workload_times const& times) {
  range_work all;
  for (std::uint32_t i = 0; i < times.size(); ++i)
    if (!times.is_level_above(i)) all.workloads.push_back({i, times.tally(i)});
  return all;
}

std::unique_ptr<owned_metrics> metrics_of(trace_contents& trace, roofline_reading const& read) {
  roofline const roofs(read.metrics(), read.times(), read.devices(), trace.shapes(), read.codes());
  auto made = std::make_unique<owned_metrics>();
  auto const whole = everything(read.times());
  auto const all = roofs.by_range({&whole, 1}, [](range_key) { return std::string(); });
  auto const ranges =
      roofs.by_range(read.ranges(), [&](range_key key) { return range_name(key, trace.text()); });
  for (auto const& row : ranges)
    if (row.name != outside_ranges_name) made->listed_ranges.push_back(add_line(*made, row));
  for (auto const& row : roofs.by_kernel(trace.labels(kernel_name_style::mangled)))
    if (row.launches > 0) made->listed_kernels.push_back(add_line(*made, row));
  auto const has_peaks =
      std::any_of(read.devices().begin(), read.devices().end(),
                  [](auto const& device) { return !device.second.roofs.empty(); });
  static_cast<gpuprof_metrics&>(*made) = {.struct_size = sizeof(gpuprof_metrics),
                                          .all = add_line(*made, all.front()),
                                          .ranges = made->listed_ranges.data(),
                                          .range_name_count = made->listed_ranges.size(),
                                          .kernels = made->listed_kernels.data(),
                                          .kernel_name_count = made->listed_kernels.size(),
                                          .has_peaks = has_peaks ? 1 : 0,
                                          .reading_count = read.exact().valid_samples(),
                                          .unused_reading_count = read.exact().discarded().all()};
  return made;
}

result<std::unique_ptr<owned_metrics>> read_part(char const* path, recent_part const& part) {
  auto opened = capture::reader::open(path);
  if (!opened) return error{opened.message()};
  auto const kept = keep_recent(*opened, part);
  trace_contents trace(*std::move(opened));
  selection wanted;
  wanted.only(kept);
  roofline_reading read(trace, std::nullopt, range_scope::process, &wanted);
  read.only_within(kept);
  read.group_ranges(listed_by_text);
  capture_walk walk(trace.file());
  read.join(walk, true);
  walk.run();
  read.finish();
  return metrics_of(trace, read);
}

gpuprof_metrics const* take(char const* path, recent_part part, char* why,
                            std::size_t size) noexcept {
  try {
    auto made = read_part(path, part);
    if (made) return (*made).release();
    std::snprintf(why, size, "%s", made.message().c_str());
  } catch (std::exception const& e) {
    std::snprintf(why, size, "the capture cannot be read: %s", e.what());
  }
  return nullptr;
}

void release(gpuprof_metrics const* metrics) noexcept {
  delete static_cast<owned_metrics const*>(metrics);
}

}  // namespace
}  // namespace gpuprof::host

extern "C" __attribute__((visibility("default")))
gpuprof::recent_metrics_reader const gpuprof_recent_metrics_v1;

gpuprof::recent_metrics_reader const gpuprof_recent_metrics_v1{gpuprof::host::take,
                                                               gpuprof::host::release};

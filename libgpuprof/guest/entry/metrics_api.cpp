// SPDX-License-Identifier: Apache-2.0
// gpuprof_take_metrics of include/gpuprof/gpuprof.h: what ranges and kernels achieve, for the
// program.
#define GPUPROF_BUILDING
#include <gpuprof/gpuprof.h>

#include "base/log.hpp"
#include "guest/entry/guarded.hpp"
#include "guest/entry/listed.hpp"
#include "guest/session/process_profiler.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace gpuprof;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// One line with the texts and rates it points to.
struct owned_line {
  gpuprof_achieved view{};
  std::string name, flops_source, bound_by;
  std::array<std::string, precision_count> precision_names;
  listed<gpuprof_precision_rate> precisions;
};

struct owned_metrics : gpuprof_metrics {
  std::deque<owned_line> lines;  // where they stay
  std::vector<gpuprof_achieved const*> listed_ranges, listed_kernels;
};

/// Shares of roofs: DRAM, L2, then each precision.
std::optional<double> share_of(roofline_row const& row, bound_by::kind roof, std::size_t p = 0) {
  for (std::size_t i = 0; i < roof_count; ++i)
    if (roof_of(i) == bound_by{roof, static_cast<precision>(p)}) return row.shares[i];
  return std::nullopt;
}

void add_precisions(owned_line& line, roofline_row const& row) {
  for (std::size_t p = 0; p < precision_count; ++p) {
    if (!row.flops[p]) continue;
    line.precision_names[p] = key_of(static_cast<precision>(p));
    line.precisions.add({sizeof(gpuprof_precision_rate), line.precision_names[p].c_str(),
                         *row.flops[p],
                         share_of(row, bound_by::kind::compute, p).value_or(unknown)});
  }
}

gpuprof_achieved const* add_line(owned_metrics& to, roofline_row const& row) {
  auto& line = to.lines.emplace_back();
  line.name = row.name;
  line.flops_source = name_of(row.source);
  line.bound_by = name_of(row.bound);
  add_precisions(line, row);
  line.view = {.struct_size = sizeof(gpuprof_achieved),
               .name = line.name.c_str(),
               .launches = row.launches,
               .seconds = row.total_ns / 1e9,
               .exact_share = row.exact_share,
               .readings = row.samples,
               .flops = row.total_flops.value_or(unknown),
               .flops_source = line.flops_source.c_str(),
               .precisions = line.precisions.data(),
               .precision_count = line.precisions.size(),
               .dram_bytes_per_second = row.dram_rate.value_or(unknown),
               .l2_bytes_per_second = row.l2_rate.value_or(unknown),
               .sm_clock_hz = row.clock.value_or(unknown),
               .occupancy = row.occupancy.value_or(unknown),
               .tensor_active = row.tensor_active.value_or(unknown),
               .dram_of_peak = share_of(row, bound_by::kind::dram).value_or(unknown),
               .l2_of_peak = share_of(row, bound_by::kind::l2).value_or(unknown),
               .of_peak = row.of_roof.value_or(unknown),
               .bound_by = line.bound_by.c_str()};
  return &line.view;
}

std::unique_ptr<owned_metrics> owned(achieved_snapshot const& found) {
  auto made = std::make_unique<owned_metrics>();
  auto const* const all = add_line(*made, found.all);
  for (auto const& row : found.ranges) made->listed_ranges.push_back(add_line(*made, row));
  for (auto const& row : found.kernels) made->listed_kernels.push_back(add_line(*made, row));
  static_cast<gpuprof_metrics&>(*made) = {
      .struct_size = sizeof(gpuprof_metrics),
      .all = all,
      .ranges = made->listed_ranges.data(),
      .range_names = made->listed_ranges.size(),
      .kernels = made->listed_kernels.data(),
      .kernel_names = made->listed_kernels.size(),
      .has_peaks = found.has_peaks ? 1 : 0,
      .readings = found.valid_readings,
      .readings_left_out = found.discarded.all() + found.readings_forgotten};
  return made;
}

void say_once_that_none_are_asked_for() {
  static std::atomic<bool> said{false};
  if (first_time(said))
    log_warning(
        "gpuprof_take_metrics() has nothing to give: no counters are read. "
        "GPUPROF_METRICS=auto reads them");
}

}  // namespace

extern "C" {

gpuprof_status gpuprof_take_metrics(gpuprof_metrics const** metrics) {
  if (metrics == nullptr) return GPUPROF_INVALID_ARGUMENT;
  *metrics = nullptr;
  return guarded(GPUPROF_INACTIVE, [metrics] {
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr || !profiler->has_captured()) return GPUPROF_INACTIVE;
    auto* const achieved = profiler->achieved();
    if (achieved == nullptr) {
      say_once_that_none_are_asked_for();
      return GPUPROF_INACTIVE;
    }
    *metrics = owned(achieved->snapshot()).release();
    return GPUPROF_OK;
  });
}

void gpuprof_release_metrics(gpuprof_metrics const* metrics) {
  delete static_cast<owned_metrics const*>(metrics);
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// gpuprof_take_metrics of include/gpuprof/gpuprof.h: gives the program the metrics of its ranges
// and kernels.
#define GPUPROF_BUILDING
#include <gpuprof/gpuprof.h>

#include "base/log.hpp"
#include "guest/entry/answered.hpp"
#include "guest/session/process_profiler.hpp"

#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;

// The header has the same values as the library.
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

/// One line with the texts and rates it points to.
struct owned_line {
  gpuprof_achieved view{};
  std::string name;
  listed<gpuprof_precision_rate> precisions;
};

struct owned_metrics : gpuprof_metrics {
  std::deque<owned_line> lines;  // the lines keep their addresses
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
  for (std::size_t p = 0; p < precision_count; ++p) {
    if (!row.flops[p]) continue;
    line.precisions.add({sizeof(gpuprof_precision_rate), static_cast<gpuprof_precision>(p),
                         *row.flops[p],
                         share_of(row, bound_by::kind::compute, p).value_or(unknown)});
  }
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
               .bound_by = bound_of(row.bound)};
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
      .range_name_count = made->listed_ranges.size(),
      .kernels = made->listed_kernels.data(),
      .kernel_name_count = made->listed_kernels.size(),
      .has_peaks = found.has_peaks ? 1 : 0,
      .reading_count = found.valid_readings,
      .unused_reading_count = found.discarded.all() + found.readings_forgotten};
  return made;
}

gpuprof_status none_are_asked_for() noexcept {
  constexpr char const* why =
      "gpuprof_take_metrics() has nothing to give: no counters are read. GPUPROF_METRICS=auto "
      "reads them";
  static std::atomic<bool> said{false};
  if (first_time(said)) log_warning(why);
  return refused(GPUPROF_INACTIVE, why);
}

}  // namespace

extern "C" {

gpuprof_status gpuprof_take_metrics(gpuprof_metrics const** metrics) {
  if (metrics != nullptr) *metrics = nullptr;
  return answered([metrics] {
    if (metrics == nullptr) return refused(GPUPROF_INVALID_ARGUMENT, "metrics is NULL");
    auto* const profiler = process_profiler::existing();
    if (profiler == nullptr || !profiler->has_captured())
      return refused(GPUPROF_INACTIVE, nothing_captured);
    auto* const achieved = profiler->achieved();
    if (achieved == nullptr) return none_are_asked_for();
    *metrics = owned(achieved->snapshot()).release();
    return GPUPROF_OK;
  });
}

void gpuprof_release_metrics(gpuprof_metrics const* metrics) {
  delete static_cast<owned_metrics const*>(metrics);
}

char const* gpuprof_precision_name(gpuprof_precision of) {
  return of >= 0 && of < static_cast<int>(precision_count)
             ? key_of(static_cast<precision>(of)).data()
             : "";
}

char const* gpuprof_flops_source_name(gpuprof_flops_source source) {
  return source >= 0 && source <= GPUPROF_FLOPS_DECLARED
             ? name_of(static_cast<flop_source>(source)).data()
             : "";
}

char const* gpuprof_bound_name(gpuprof_bound bound) {
  switch (bound) {
    case GPUPROF_BOUND_LATENCY:
      return "latency";
    case GPUPROF_BOUND_DRAM:
      return "DRAM";
    case GPUPROF_BOUND_L2:
      return "L2";
    default:
      break;
  }
  auto const p = static_cast<int>(bound) - GPUPROF_BOUND_FP64;
  return p >= 0 && std::cmp_less(p, precision_count) ? name_of(static_cast<precision>(p)).data()
                                                     : "";
}

}  // extern "C"

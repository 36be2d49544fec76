// SPDX-License-Identifier: Apache-2.0
// What the counters of the replayed GPU come to: metrics by name, values that follow from a launch
// by a fixed rule. Nothing in it was measured.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::replay {

/// What a unit counts, summed over all units of its sort on the GPU.
enum class counter : std::uint8_t {
  time_ns,
  sm_cycles,
  sm_active_cycles,
  warps,  // in flight, summed over cycles
  dram_read_bytes,
  dram_write_bytes,
  l2_bytes,
  l2_lookups,
  l2_hits,
  tensor_cycles,
  tensor_bf16,
  tensor_fp16,
  tensor_fp8,
  tensor_tf32,
  tensor_int8,
  tensor_fp64,
  fp32_fma,
  fp32_mul,
  fp32_add,
  integer,
  control,
  nothing,  // of what no replayed kernel does
  count_
};

constexpr auto not_counted = std::numeric_limits<double>::quiet_NaN();

struct counts {
  std::array<double, static_cast<std::size_t>(counter::count_)> values;
  double& operator[](counter c) { return values[static_cast<std::size_t>(c)]; }
  double operator[](counter c) const { return values[static_cast<std::size_t>(c)]; }
};

/// A kernel that ran.
struct kernel_run {
  std::string name;  // mangled
  std::uint64_t nanoseconds = 0;
  std::uint64_t blocks = 0, threads_per_block = 0;
  std::uint32_t correlation = 0;
  bool is_recorded = false;  // as a kernel of its own among others: it is not patched then
};

kernel_run run_of(CUpti_ActivityKernel10 const& record, bool is_recorded);

struct tensor_path {
  counter operations{};
  double per_cycle = 0;  // and SM
};
/// What kind of matrix product a kernel is, by its name.
std::optional<tensor_path> tensor_path_of(std::string_view name) noexcept;

/// The rule; README.md says it in words.
counts counts_of(kernel_run const& kernel, unsigned sms, bool is_patched);
/// Of a GPU that does nothing for so long: time and cycles go on.
counts counts_of_idling(std::uint64_t nanoseconds, unsigned sms);

/// How CUPTI gets at a metric.
enum class reading : std::uint8_t {
  plain,         // with all others in the first pass
  tensor,        // one of these in a pass
  two_passes,    // a ratio of counters that are not counted at once
  patched_code,  // a pass without others
};

struct base_metric {
  char const* name;
  char const* description;
  char const* hardware_unit;
  char const* unit;
  CUpti_MetricType type;
  reading how;
  counter what;
  unsigned units_per_sm;  // 0: there is one of it
  double peak;            // of a unit in a cycle; 0: has none
};

std::span<base_metric const> base_metrics() noexcept;
/// ".sum", ".avg.per_second" and so on.
std::span<char const* const> suffixes_of(CUpti_MetricType type) noexcept;

/// A full name taken apart; empty when there is no such metric.
struct metric {
  base_metric const* base = nullptr;
  std::string_view suffix;
};
std::optional<metric> find_metric(std::string_view name) noexcept;
base_metric const* find_base_metric(std::string_view name_with_or_without_suffix) noexcept;
/// Operations and patched code cannot be. What takes two passes is known to the sampler, though it
/// has but one.
bool can_be_sampled(base_metric const& metric) noexcept;

/// Which pass counts what.
struct pass_schedule {
  std::size_t passes = 0;
  std::array<int, static_cast<std::size_t>(counter::count_)> pass_of;  // -1: none
  int rewrites_in = -1;  // the pass in which kernels are patched; -1: none
};
pass_schedule schedule_of(std::span<std::string const> metrics);

/// NaN when it needs what was not counted.
double value_of(metric const& wanted, counts const& counted, unsigned sms) noexcept;

}  // namespace gpuprof::replay

// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/made_up_counters.hpp"

#include <algorithm>
#include <cmath>

namespace gpuprof::replay {
namespace {

constexpr double cycles_per_ns = 1.5;
constexpr double max_warps = 64;  // of an SM

constexpr auto counters_only = CUPTI_METRIC_TYPE_COUNTER;
constexpr auto ratio = CUPTI_METRIC_TYPE_RATIO;

#define TENSOR(name, words, what)                                                           \
  {                                                                                         \
    "sm__ops_path_tensor_" name, "# of math ops executed in Tensor path with " words, "sm", \
        "math_op", counters_only, reading::tensor, what, 1, 0                               \
  }
#define PATCHED(name, words, what)                                                            \
  {                                                                                           \
    "smsp__sass_thread_inst_executed_op_" name "_pred_on",                                    \
        "# of " words " thread instructions executed where all predicates were true", "smsp", \
        "instruction", counters_only, reading::patched_code, what, 4, 0                       \
  }

constexpr base_metric all[] = {
    {"gpu__time_duration", "time of the range", "gpu", "nanosecond", counters_only, reading::plain,
     counter::time_ns, 0, 0},
    {"sm__cycles_elapsed", "# of cycles elapsed on SM", "sm", "gpc_cycle", counters_only,
     reading::plain, counter::sm_cycles, 1, 0},
    {"sm__cycles_active", "# of cycles with at least one warp in flight", "sm", "gpc_cycle",
     counters_only, reading::plain, counter::sm_active_cycles, 1, 1},
    {"sm__warps_active", "cumulative # of warps in flight", "sm", "warp", counters_only,
     reading::plain, counter::warps, 1, max_warps},
    {"dram__bytes_read", "# of bytes read from DRAM", "dram", "byte", counters_only, reading::plain,
     counter::dram_read_bytes, 0, 0},
    {"dram__bytes_write", "# of bytes written to DRAM", "dram", "byte", counters_only,
     reading::plain, counter::dram_write_bytes, 0, 0},
    {"lts__t_bytes", "# of bytes requested", "lts", "byte", counters_only, reading::plain,
     counter::l2_bytes, 0, 0},
    {"lts__t_sector_hit_rate", "proportion of L2 sector lookups that hit", "lts", "", ratio,
     reading::two_passes, counter::l2_hits, 0, 0},
    {"sm__pipe_tensor_cycles_active", "# of cycles where tensor pipe was active", "sm", "gpc_cycle",
     counters_only, reading::plain, counter::tensor_cycles, 1, 1},
    TENSOR("src_bf16_dst_fp32", "source BF16 and destination FP32", counter::tensor_bf16),
    TENSOR("src_fp16", "source FP16", counter::tensor_fp16),
    TENSOR("src_fp8", "source FP8", counter::tensor_fp8),
    TENSOR("src_tf32_dst_fp32", "source TF32 and destination FP32", counter::tensor_tf32),
    TENSOR("src_int8", "source INT8", counter::tensor_int8),
    TENSOR("src_fp64", "source FP64", counter::tensor_fp64),
    PATCHED("ffma", "FFMA", counter::fp32_fma),
    PATCHED("fmul", "FMUL", counter::fp32_mul),
    PATCHED("fadd", "FADD", counter::fp32_add),
    PATCHED("hfma", "HFMA", counter::nothing),
    PATCHED("hmul", "HMUL", counter::nothing),
    PATCHED("hadd", "HADD", counter::nothing),
    PATCHED("dfma", "DFMA", counter::nothing),
    PATCHED("dmul", "DMUL", counter::nothing),
    PATCHED("dadd", "DADD", counter::nothing),
    PATCHED("integer", "integer", counter::integer),
    PATCHED("control", "control-flow", counter::control),
};
#undef TENSOR
#undef PATCHED

constexpr char const* counter_suffixes[] = {".avg",
                                            ".avg.pct_of_peak_sustained_active",
                                            ".avg.pct_of_peak_sustained_elapsed",
                                            ".avg.per_cycle_active",
                                            ".avg.per_cycle_elapsed",
                                            ".avg.per_second",
                                            ".max",
                                            ".min",
                                            ".sum",
                                            ".sum.pct_of_peak_sustained_active",
                                            ".sum.pct_of_peak_sustained_elapsed",
                                            ".sum.per_cycle_active",
                                            ".sum.per_cycle_elapsed",
                                            ".sum.per_second"};
constexpr char const* ratio_suffixes[] = {".pct", ".ratio"};

bool has(std::string_view name, std::string_view part) noexcept {
  return name.find(part) != std::string_view::npos;
}

double weight_of(std::string_view name) noexcept {
  unsigned sum = 0;
  for (char const c : name) sum += static_cast<unsigned char>(c);
  return 1 + sum % 9;
}

double units(base_metric const& m, unsigned sms) noexcept {
  return m.units_per_sm == 0 ? 1 : m.units_per_sm * static_cast<double>(sms);
}

}  // namespace

std::optional<tensor_path> tensor_path_of(std::string_view name) noexcept {
  if (!has(name, "gemm") && !has(name, "nvjet")) return std::nullopt;
  if (has(name, "bf16")) return tensor_path{counter::tensor_bf16, 1024};
  if (has(name, "f16")) return tensor_path{counter::tensor_fp16, 1024};
  return tensor_path{counter::tensor_tf32, 512};
}

kernel_run run_of(CUpti_ActivityKernel10 const& k, bool is_recorded) {
  auto const product = [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<std::uint64_t>(x * y * z);
  };
  return {
      k.name != nullptr ? k.name : "",       k.end - k.start, product(k.gridX, k.gridY, k.gridZ),
      product(k.blockX, k.blockY, k.blockZ), k.correlationId, is_recorded};
}

counts counts_of(kernel_run const& kernel, unsigned sms, bool is_patched) {
  counts c{};
  auto const gpu_sms = static_cast<double>(sms);
  auto const blocks = static_cast<double>(kernel.blocks);
  auto const in_use = std::min(blocks, gpu_sms);
  auto const warps_of_block = std::ceil(static_cast<double>(kernel.threads_per_block) / 32);
  auto const work = blocks * static_cast<double>(kernel.threads_per_block) * weight_of(kernel.name);

  auto const time = static_cast<double>(kernel.nanoseconds);
  c[counter::time_ns] = time;
  c[counter::sm_cycles] = cycles_per_ns * time * gpu_sms;
  c[counter::sm_active_cycles] = cycles_per_ns * time * in_use;
  c[counter::warps] = c[counter::sm_active_cycles] *
                      std::min(max_warps, warps_of_block * std::ceil(blocks / gpu_sms));
  c[counter::dram_read_bytes] = 64 * work;
  c[counter::dram_write_bytes] = 32 * work;
  c[counter::l2_bytes] = 128 * work;
  c[counter::l2_lookups] = 4 * work;
  c[counter::l2_hits] = 3 * work;
  auto const path = tensor_path_of(kernel.name);
  if (path) {
    c[path->operations] = 4096 * work;
    c[counter::tensor_cycles] = c[path->operations] / path->per_cycle;
  }
  if (!is_patched) return c;
  c[counter::control] = 2 * work;
  if (path) return c;  // products leave all arithmetic to the tensor cores
  c[counter::fp32_fma] = 4 * work;
  c[counter::fp32_mul] = 2 * work;
  c[counter::fp32_add] = work;
  c[counter::integer] = 8 * work;
  return c;
}

counts counts_of_idling(std::uint64_t nanoseconds, unsigned sms) {
  counts c{};
  c[counter::time_ns] = static_cast<double>(nanoseconds);
  c[counter::sm_cycles] = cycles_per_ns * c[counter::time_ns] * static_cast<double>(sms);
  return c;
}

std::span<base_metric const> base_metrics() noexcept {
  return all;
}

std::span<char const* const> suffixes_of(CUpti_MetricType type) noexcept {
  if (type == counters_only) return counter_suffixes;
  if (type == ratio) return ratio_suffixes;
  return {};
}

base_metric const* find_base_metric(std::string_view name) noexcept {
  auto const base = name.substr(0, name.find('.'));
  auto const* const found = std::find_if(std::begin(all), std::end(all),
                                         [&](base_metric const& m) { return base == m.name; });
  return found != std::end(all) ? found : nullptr;
}

std::optional<metric> find_metric(std::string_view name) noexcept {
  auto const* const base = find_base_metric(name);
  if (base == nullptr) return std::nullopt;
  auto const suffix = name.substr(std::string_view(base->name).size());
  auto const known = suffixes_of(base->type);
  if (std::find(known.begin(), known.end(), suffix) == known.end()) return std::nullopt;
  return metric{base, suffix};
}

bool can_be_sampled(base_metric const& m) noexcept {
  return m.how == reading::plain || m.how == reading::two_passes;
}

pass_schedule schedule_of(std::span<std::string const> metrics) {
  pass_schedule schedule;
  schedule.pass_of.fill(-1);
  auto const count = [&](counter c, std::size_t pass) {
    schedule.pass_of[static_cast<std::size_t>(c)] = static_cast<int>(pass);
    schedule.passes = std::max(schedule.passes, pass + 1);
  };
  auto const is_counted = [&](counter c) {
    return schedule.pass_of[static_cast<std::size_t>(c)] >= 0;
  };
  // Any pass tells time and cycles; the first does.
  auto const count_time = [&] {
    for (auto const c : {counter::time_ns, counter::sm_cycles, counter::sm_active_cycles})
      count(c, 0);
  };
  std::size_t tensor_counters = 0;
  for (auto const& name : metrics) {
    auto const& m = *find_metric(name)->base;
    if (m.how == reading::patched_code) continue;
    count_time();
    if (m.how == reading::tensor) {
      if (!is_counted(m.what)) count(m.what, tensor_counters++);
    } else if (m.how == reading::two_passes) {
      count(counter::l2_hits, 0);
      count(counter::l2_lookups, 1);
    } else if (!is_counted(m.what)) {
      count(m.what, 0);
    }
  }
  auto const last = schedule.passes;
  for (auto const& name : metrics) {
    auto const& m = *find_metric(name)->base;
    if (m.how != reading::patched_code) continue;
    if (last == 0) count_time();
    count(m.what, last);
    schedule.rewrites_in = static_cast<int>(last);
  }
  return schedule;
}

double value_of(metric const& wanted, counts const& counted, unsigned sms) noexcept {
  auto const& m = *wanted.base;
  if (m.type == ratio) {
    auto const share = counted[counter::l2_hits] / counted[counter::l2_lookups];
    return wanted.suffix == ".pct" ? 100 * share : share;
  }
  auto const sum = counted[m.what];
  bool const of_all = wanted.suffix.starts_with(".sum");
  auto const rolled_up = of_all ? sum : sum / units(m, sms);
  auto const rest = wanted.suffix.substr(4);  // after ".sum", ".avg", ".min", ".max"
  if (rest.empty()) return rolled_up;
  if (rest == ".per_second") return rolled_up / (counted[counter::time_ns] * 1e-9);
  auto const cycles =
      counted[rest.ends_with("_active") ? counter::sm_active_cycles : counter::sm_cycles] / sms;
  if (rest.starts_with(".per_cycle")) return rolled_up / cycles;
  return m.peak == 0 ? not_counted : 100 * sum / units(m, sms) / (cycles * m.peak);
}

}  // namespace gpuprof::replay

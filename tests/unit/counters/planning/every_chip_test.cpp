// SPDX-License-Identifier: Apache-2.0
// What the real CUPTI says of the sets on every chip it knows.
#include "guest/metrics/planning/metric_sets.hpp"
#include "guest/metrics/planning/pass_plan.hpp"
#include "support/real_cupti.hpp"

#include <algorithm>
#include <map>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GPUPROF_SLOW_ONES "[.]"  // minutes inside CUPTI, of whose code nothing is instrumented
#else
#define GPUPROF_SLOW_ONES ""
#endif

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::real_cupti;

namespace {

using names = std::vector<std::string>;

result<pass_plan> plan_of(cupti_api const& api, std::string const& chip, names metrics) {
  return plan_passes(api, {.chip = chip,
                           .metrics = std::move(metrics),
                           .range_availability = {},
                           .sampling_availability = {},
                           .on_progress = {}});
}

/// Chips with counters: CUPTI knows the name of the GV11B and nothing else of it.
names chips_of(cupti_api const& api) {
  auto chips = known_chips(api);
  REQUIRE(chips);
  std::erase(*chips, "GV11B");
  return *std::move(chips);
}

bool is_of_device(std::string const& metric) {
  return metric.starts_with("pcie__") || metric.starts_with("nvl") || metric.starts_with("ctc__");
}

std::size_t passes(host_profiler const& host, names const& metrics) {
  auto const configuration = host.configure(metrics);
  REQUIRE(configuration);
  return configuration->passes;
}

}  // namespace

TEST_CASE("a set contains exactly the metrics that each chip counts", GPUPROF_SLOW_ONES) {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr || !test::is_the_known_release(*cupti)) return;
  auto const chips = chips_of(cupti->api);
  CHECK(chips.size() == 29);
  for (auto const& chip : chips) {
    INFO(chip);
    auto const host = host_profiler::open(cupti->api, counter_engine::ranges, chip);
    REQUIRE(host);
    for (auto const set : {metric_set::full, metric_set::explain}) {
      auto const contents = contents_of(set, chip);
      CHECK(contents.metrics.size() > 60);
      for (auto const& metric : contents.metrics) {
        INFO(metric);
        CHECK(passes(*host, {metric}) > 0);
      }
      for (auto const& metric : contents.absent) {
        INFO(metric);
        CHECK(passes(*host, {metric}) == 0);
      }
    }
  }
}

TEST_CASE("a chip without counters has no sets and no plan") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  CHECK(contents_of(metric_set::full, "GV11B").metrics.empty());
  CHECK(plan_of(cupti->api, "GV11B", {}).message() == "GV11B has no counters that CUPTI can read");
}

TEST_CASE("the basic set is one pass on every chip") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const& chip : chips_of(cupti->api)) {
    INFO(chip);
    auto const plan = plan_of(cupti->api, chip, contents_of(metric_set::basic, chip).metrics);
    REQUIRE(plan);
    CHECK(plan->launch_passes() == 1);
    CHECK(plan->unusable.empty());
  }
}

TEST_CASE("the sum of DRAM bytes takes the place of reads and writes on every chip that has it") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const& chip : chips_of(cupti->api)) {
    if (chip == "GA10B" || chip == "GB10B" || chip == "GB20B") continue;
    INFO(chip);
    auto const host = host_profiler::open(cupti->api, counter_engine::ranges, chip);
    REQUIRE(host);
    CHECK(
        passes(*host, {"sm__cycles_active.avg", "sm__warps_active.avg.pct_of_peak_sustained_active",
                       "dram__bytes.sum", "gpu__time_duration.sum"}) == 1);
  }
}

// One chip of each family; that the others of it are alike is tested above.
TEST_CASE("sets take as many passes as the table of this release says", GPUPROF_SLOW_ONES) {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr || !test::is_the_known_release(*cupti)) return;
  struct expected {
    std::size_t roofline, memory, explain;
  };
  std::map<std::string, expected> const table{
      {"GV100", {2, 10, 9}}, {"TU102", {3, 6, 8}},  {"TU116", {2, 6, 7}}, {"GA100", {7, 6, 8}},
      {"GA102", {7, 6, 8}},  {"GA10B", {7, 5, 8}},  {"GH100", {8, 6, 8}}, {"AD102", {8, 6, 8}},
      {"GB100", {9, 6, 8}},  {"GB110", {10, 6, 8}}, {"GB10B", {9, 5, 8}}, {"GB202", {11, 6, 9}},
      {"GB20B", {11, 5, 9}}};
  auto const launch_passes = [&](std::string const& chip, metric_set set) {
    INFO(chip);
    auto const plan = plan_of(cupti->api, chip, contents_of(set, chip).metrics);
    REQUIRE(plan);
    CHECK(plan->unusable.empty());
    return plan->launch_passes();
  };
  for (auto const& [chip, number] : table) {
    INFO(chip);
    CHECK(launch_passes(chip, metric_set::roofline) == number.roofline);
    CHECK(launch_passes(chip, metric_set::memory) == number.memory);
    CHECK(launch_passes(chip, metric_set::explain) == number.explain);
  }
  CHECK(launch_passes("GH100", metric_set::full) == 23);
}

TEST_CASE("explain takes eight launches of a kernel on GH100, of which one is rewritten") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr || !test::is_the_known_release(*cupti)) return;
  auto const plan = plan_of(cupti->api, "GH100", contents_of(metric_set::explain, "GH100").metrics);
  REQUIRE(plan);
  CHECK(plan->unusable.empty());
  CHECK(plan->launch_passes() == 8);
  auto const group_of = [&](std::string const& metric) {
    return std::find_if(plan->launches.begin(), plan->launches.end(), [&](auto const& group) {
      return std::find(group.metrics.begin(), group.metrics.end(), metric) != group.metrics.end();
    });
  };
  auto const rewritten = group_of("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
  REQUIRE(rewritten != plan->launches.end());
  CHECK(rewritten->patches_kernel);
  CHECK(rewritten->passes == 1);
  for (auto const* const metric :
       {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
        "smsp__sass_average_data_bytes_per_wavefront_mem_shared.ratio",
        "smsp__sass_inst_executed_op_memory_128b.sum",
        "smsp__sass_average_branch_targets_threads_uniform.pct"})
    CHECK(group_of(metric) == rewritten);
  CHECK(group_of("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") ==
        group_of("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"));
  CHECK(group_of("smsp__thread_inst_executed.sum") ==
        group_of("smsp__thread_inst_executed_pred_on.sum"));
  // FLOP of FP32 that no launch has to be held for.
  CHECK(std::count(plan->sampled.begin(), plan->sampled.end(),
                   "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.sum") == 1);
}

TEST_CASE(
    "each group of a plan is read in its number of passes, and every metric is in one group") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const* const chip : {"TU102", "GH100", "GB202"}) {
    INFO(chip);
    auto const metrics = contents_of(metric_set::roofline, chip).metrics;
    auto const plan = plan_of(cupti->api, chip, metrics);
    REQUIRE(plan);
    auto const host = host_profiler::open(cupti->api, counter_engine::ranges, chip);
    std::size_t grouped = 0;
    for (auto const& group : plan->launches) {
      CHECK(passes(*host, group.metrics) == group.passes);
      grouped += group.metrics.size();
    }
    // Of GH100 one is for sampling alone: around launches it would take a pass of its own.
    CHECK(grouped + (chip == std::string_view("GH100") ? 1 : 0) == metrics.size());
    CHECK(plan->launches.front().metrics.front() == metrics.front());
  }
}

TEST_CASE("the tensor pipe runs all types of the tensor path on chips with FP64 instructions") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const& chip : chips_of(cupti->api)) {
    INFO(chip);
    auto const host = host_profiler::open(cupti->api, counter_engine::ranges, chip);
    REQUIRE(host);
    auto const has = passes(*host, {"sm__inst_executed_pipe_tensor_op_dmma.sum"}) != 0 ||
                     passes(*host, {"sm__inst_executed_pipe_tensor_subpipe_dmma.sum"}) != 0;
    CHECK(tensor_pipe_runs_all(chip) == has);
  }
}

TEST_CASE("the operations of one tensor type take one or two passes with the basic set on GH100") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const* const type : {"bf16_dst_fp32", "fp16", "fp8", "tf32_dst_fp32", "int8", "fp64"}) {
    INFO(type);
    auto metrics = contents_of(metric_set::basic, "GH100").metrics;
    metrics.push_back("sm__ops_path_tensor_src_" + std::string(type) + ".sum");
    auto const host = host_profiler::open(cupti->api, counter_engine::ranges, "GH100");
    auto const needed = passes(*host, metrics);
    CHECK(needed >= 1);
    CHECK(needed <= 2);
  }
}

TEST_CASE("samples of each chip have what FLOP of tensor cores need") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const* const chip :
       {"GA100", "GA102", "GA10B", "GH100", "AD102", "GB100", "GB110", "GB10B", "GB202", "GB20B"}) {
    INFO(chip);
    auto const plan = plan_of(cupti->api, chip, contents_of(metric_set::roofline, chip).metrics);
    REQUIRE(plan);
    CHECK(plan->sampling_passes == 1);
    for (auto const* const metric :
         {"sm__cycles_active.avg", "sm__pipe_tensor_cycles_active.avg", "lts__t_bytes.sum"})
      CHECK(std::count(plan->sampled.begin(), plan->sampled.end(), metric) == 1);
    // No chip samples operations, also not under the names that say "realtime".
    auto const type = "sm__ops_path_tensor_src_bf16_dst_fp32";
    for (std::string const ending : {".sum", "_realtime.sum"}) {
      auto const alone = plan_of(cupti->api, chip, {type + ending});
      REQUIRE(alone);
      CHECK(alone->sampled.empty());
    }
  }
}

TEST_CASE("counters of PCIe are never in a launch group with other counters") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  auto const metrics = contents_of(metric_set::memory, "GH100").metrics;
  auto const plan = plan_of(cupti->api, "GH100", metrics);
  REQUIRE(plan);
  for (auto const& group : plan->launches) {
    auto const of_device = std::count_if(group.metrics.begin(), group.metrics.end(), is_of_device);
    CHECK((of_device == 0 || static_cast<std::size_t>(of_device) == group.metrics.size()));
  }
}

TEST_CASE("all suffixes of a type are those of its first metric") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  auto const host = host_profiler::open(cupti->api, counter_engine::ranges, "GH100");
  REQUIRE(host);
  for (auto const type : {metric_type::counter, metric_type::ratio, metric_type::throughput}) {
    auto const all = host->base_metrics(type);
    REQUIRE(all);
    auto const first = host->suffixes(all->front(), type);
    REQUIRE(first);
    CHECK(std::find(first->begin(), first->end(), usual_suffix(type)) != first->end());
    for (auto const& metric : *all) {
      if (*host->suffixes(metric, type) == *first) continue;
      INFO(metric);
      CHECK(false);
    }
  }
}

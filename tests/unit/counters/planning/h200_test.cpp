// SPDX-License-Identifier: Apache-2.0
// Plans for one H200 as it was set up: with its availability images, which leave out NVLink.
#include "guest/metrics/planning/metric_sets.hpp"
#include "guest/metrics/planning/pass_plan.hpp"
#include "support/real_cupti.hpp"
#include "support/test_data.hpp"

#include <fstream>
#include <iterator>

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::real_cupti;
using gpuprof::test::test_data;

namespace {

std::vector<std::uint8_t> availability_image(std::string const& name) {
  std::ifstream file(test_data("counters/" + name), std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

result<pass_plan> h200_plan_of(cupti_api const& api, std::vector<std::string> metrics) {
  return plan_passes(api, {.chip = "GH100",
                           .metrics = std::move(metrics),
                           .range_availability = availability_image("gh100_ranges.bin"),
                           .sampling_availability = availability_image("gh100_sampling.bin"),
                           .on_progress = {}});
}

}  // namespace

TEST_CASE("metrics that were sampled together on an H200 are planned as one pass") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  std::vector<std::string> const metrics{
      "sm__cycles_active.avg",
      "sm__cycles_elapsed.avg",
      "sm__warps_active.avg",
      "dram__bytes_read.sum",
      "dram__bytes_write.sum",
      "sm__pipe_tensor_cycles_active.avg",
      "lts__t_bytes.sum",
      "gpc__cycles_elapsed.avg.per_second",
      "sys__cycles_elapsed.avg.per_second",
      "dram__cycles_elapsed.avg.per_second",
      "gr__cycles_active.sum",
      "pcie__read_bytes.sum",
      "pcie__write_bytes.sum",
      "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg",
      "TPC.TriageCompute.sm__pipe_fp64_cycles_active_realtime.avg",
      "TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime.avg",
      "TPC.TriageCompute.sm__inst_executed_pipe_alu_realtime.avg",
      "TPC.TriageCompute.sm__inst_executed_realtime.avg"};
  auto const plan = h200_plan_of(cupti->api, metrics);
  REQUIRE(plan);
  CHECK(plan->sampling_passes == 1);
  CHECK(plan->sampled == metrics);
  CHECK(plan->unusable.empty());
}

TEST_CASE("tensor operations and NVLink are not sampled on an H200") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  auto const plan = h200_plan_of(
      cupti->api, {"sm__cycles_active.avg", "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
                   "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "nvlrx__bytes.sum"});
  REQUIRE(plan);
  CHECK(plan->sampled == std::vector<std::string>{"sm__cycles_active.avg"});
  REQUIRE(plan->metrics.size() >= 3);
  CHECK(plan->metrics[1].sampling_passes == 0);
  CHECK(plan->metrics[2].sampling_passes == 0);
}

TEST_CASE("the basic set is one pass on an H200, read or sampled") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  auto const plan = h200_plan_of(cupti->api, contents_of(metric_set::basic, "GH100").metrics);
  REQUIRE(plan);
  CHECK(plan->launch_passes() == 1);
  CHECK(plan->sampling_passes == 1);
}

TEST_CASE("a metric with a suffix of any kind is read in one pass") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const* const suffix :
       {".sum", ".max", ".avg.per_second", ".avg.pct_of_peak_sustained_elapsed",
        ".sum.per_cycle_active", ".min.peak_sustained_active.per_second"}) {
    INFO(suffix);
    auto const plan = h200_plan_of(cupti->api, {std::string("sm__cycles_active") + suffix});
    REQUIRE(plan);
    CHECK(plan->launch_passes() == 1);
  }
}

TEST_CASE("bad names are explained with the nearest, and lose only themselves") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  auto const plan = h200_plan_of(
      cupti->api, {"sm__cycles_actve.avg", "sm__cycles_active", "sm__cycles_active.average",
                   "sm__cycles_active.avg", "TPC.TriageCompute.sm__inst_executed_realtim.avg"});
  REQUIRE(plan);
  CHECK(plan->metrics.size() == 1);
  REQUIRE(plan->unusable.size() == 4);
  CHECK(plan->unusable[0].nearest == "sm__cycles_active.avg");
  CHECK(plan->unusable[1].reason == "it needs a suffix");
  CHECK(plan->unusable[2].nearest.starts_with("sm__cycles_active."));
  CHECK(plan->unusable[3].nearest == "TPC.TriageCompute.sm__inst_executed_realtime.avg");
}

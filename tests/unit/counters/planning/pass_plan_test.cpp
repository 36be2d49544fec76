// SPDX-License-Identifier: Apache-2.0
// How metrics are divided into passes. A pass of the pretended chip holds two slots, of its sampler
// three.
#include "guest/metrics/planning/pass_plan.hpp"

#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::fake_cupti;

namespace {

using names = std::vector<std::string>;

result<pass_plan> plan_of(fake_cupti const& cupti, names metrics) {
  return plan_passes(cupti.library.api, {.chip = "GH100",
                                         .metrics = std::move(metrics),
                                         .range_availability = {},
                                         .sampling_availability = {},
                                         .on_progress = {}});
}

pass_plan plan_of(names metrics) {
  fake_cupti const cupti;
  auto plan = plan_of(cupti, std::move(metrics));
  REQUIRE(plan);
  return *std::move(plan);
}

}  // namespace

TEST_CASE("metrics that fit share a pass, the others get the next") {
  auto const plan =
      plan_of({"sm__cycles_active.avg", "dram__bytes_read.sum", "dram__bytes_write.sum"});
  REQUIRE(plan.launches.size() == 2);
  CHECK(plan.launches[0].metrics == names{"sm__cycles_active.avg", "dram__bytes_read.sum"});
  CHECK(plan.launches[0].passes == 1);
  CHECK(plan.launches[1].metrics == names{"dram__bytes_write.sum"});
  CHECK(plan.launch_passes() == 2);
}

TEST_CASE("metrics of several passes share a group if that saves one pass") {
  auto const plan = plan_of({"sm__wide.sum", "sm__cycles_active.avg", "sm__odd.sum"});
  REQUIRE(plan.launches.size() == 2);
  CHECK(plan.launches[0].metrics == names{"sm__cycles_active.avg"});
  CHECK(plan.launches[1].metrics == names{"sm__wide.sum", "sm__odd.sum"});
  CHECK(plan.launches[1].passes == 3);
  CHECK(plan.launch_passes() == 4);
}

TEST_CASE("instructions that are counted by patching the kernel have passes of their own") {
  auto const plan =
      plan_of({"smsp__sass_ffma.sum", "sm__cycles_active.avg", "smsp__sass_fadd.sum"});
  REQUIRE(plan.launches.size() == 2);
  CHECK(plan.launches[0].patches_kernel);
  CHECK(plan.launches[0].metrics == names{"smsp__sass_ffma.sum", "smsp__sass_fadd.sum"});
  CHECK_FALSE(plan.launches[1].patches_kernel);
}

TEST_CASE("counters of the device are not combined with those of the context") {
  auto const plan = plan_of({"sm__cycles_active.avg", "pcie__read_bytes.sum"});
  CHECK(plan.unusable.empty());
  CHECK(plan.launches.size() == 2);
}

TEST_CASE("one bad name is explained and the others are planned") {
  auto const plan = plan_of({"sm__cycles_active.avg", "dram__byte_read.sum", "sm__odd.sum"});
  REQUIRE(plan.unusable.size() == 1);
  CHECK(plan.unusable[0].name == "dram__byte_read.sum");
  CHECK(plan.unusable[0].nearest == "dram__bytes_read.sum");
  CHECK(plan.metrics.size() == 2);
  CHECK(plan.launch_passes() == 3);
}

TEST_CASE("a name given twice is planned once") {
  auto const plan =
      plan_of({"sm__cycles_active.avg", "sm__cycles_active.avg", "x__y.sum", "x__y.sum"});
  CHECK(plan.metrics.size() == 1);
  CHECK(plan.unusable.size() == 1);
}

TEST_CASE("sampling takes the metrics that fit in its one pass, first names first") {
  auto const plan = plan_of({"sm__cycles_active.avg", "lts__t_bytes.sum", "dram__bytes_read.sum",
                             "sm__wide.sum", "smsp__sass_ffma.sum"});
  CHECK(plan.sampled == names{"sm__cycles_active.avg", "lts__t_bytes.sum"});
  CHECK(plan.sampling_passes == 3);
  CHECK(plan.metrics[3].sampling_passes == 2);
  CHECK(plan.metrics[4].sampling_passes == 0);
}

TEST_CASE("a set that fits is sampled completely") {
  auto const plan =
      plan_of({"TPC.Triage.sm__realtime.avg", "pcie__read_bytes.sum", "sm__cycles_active.avg"});
  CHECK(plan.sampling_passes == 1);
  CHECK(plan.sampled.size() == 3);
  CHECK(plan.metrics[0].launch_passes == 0);  // the sampler alone knows it
  CHECK(plan.launches.size() == 2);
}

TEST_CASE("without readable metrics the plan has no passes") {
  auto const plan = plan_of({"sm__throughputs.sum"});
  CHECK(plan.launches.empty());
  CHECK(plan.launch_passes() == 0);
  CHECK(plan.sampled.empty());
  CHECK(plan_of(names{}).unusable.empty());
}

TEST_CASE("a chip that cannot be sampled is planned only for launches") {
  fake_cupti cupti;
  cupti.fail_nth("cuptiProfilerHostInitialize", 2, CUPTI_ERROR_NOT_SUPPORTED);
  auto const plan = plan_of(cupti, {"sm__cycles_active.avg"});
  REQUIRE(plan);
  CHECK(plan->sampling_refused == "GH100 has no counters that can be sampled");
  CHECK(plan->metrics[0].sampling_passes == 0);
  CHECK(plan->launch_passes() == 1);
}

TEST_CASE("planning reports its progress") {
  fake_cupti const cupti;
  std::vector<std::size_t> told;
  auto const plan = plan_passes(cupti.library.api,
                                {.chip = "GH100",
                                 .metrics = {"sm__cycles_active.avg", "dram__bytes_read.sum"},
                                 .range_availability = {},
                                 .sampling_availability = {},
                                 .on_progress = [&](std::size_t tried) { told.push_back(tried); }});
  REQUIRE(plan);
  REQUIRE(told.size() == 6);
  CHECK(told.back() == 6);
}

TEST_CASE("an unknown chip is given as the reason for no plan") {
  fake_cupti const cupti;
  auto const plan = plan_passes(cupti.library.api, {.chip = "GX100",
                                                    .metrics = {},
                                                    .range_availability = {},
                                                    .sampling_availability = {},
                                                    .on_progress = {}});
  CHECK(plan.message() == "this libcupti does not know a chip GX100");
}

TEST_CASE("if any call fails, planning ends with its name and nothing is left behind") {
  names const metrics{"sm__cycles_active.avg", "nosuch__metric.sum", "sm__wide.sum",
                      "dram__bytes_read.sum"};
  unsigned calls = 0;
  {
    fake_cupti const cupti;
    REQUIRE(plan_of(cupti, metrics));
    calls = static_cast<unsigned>(cupti.calls().size());
  }
  REQUIRE(calls > 20);
  for (unsigned n = 1; n <= calls; ++n) {
    INFO(n);
    fake_cupti cupti;
    cupti.fail_call(n, CUPTI_ERROR_OUT_OF_MEMORY);
    auto const plan = plan_of(cupti, metrics);
    auto const failed = cupti.calls().at(n - 1);
    INFO(failed);
    if (failed.starts_with("cuptiProfilerHostDeinitialize")) {
      CHECK(plan);  // costs the user nothing
      continue;
    }
    // A sampler that cannot be set up costs sampling alone.
    if (plan) {
      CHECK(n == 2);
      CHECK(plan->sampling_refused.find(failed) != std::string::npos);
    } else {
      CHECK(plan.message().find(failed) != std::string::npos);
    }
    CHECK(cupti.host.living_objects() == 0);
  }
}

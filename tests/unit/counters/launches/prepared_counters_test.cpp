// SPDX-License-Identifier: Apache-2.0
// What is read on an H200 as it was set up: with its availability image.
#include "guest/counters/launches/prepared_counters.hpp"

#include "guest/metrics/planning/metric_sets.hpp"
#include "guest/metrics/planning/pass_plan.hpp"
#include "support/real_cupti.hpp"
#include "support/test_data.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::real_cupti;
using gpuprof::test::test_data;

namespace {

using names = std::vector<std::string>;

std::vector<std::uint8_t> image() {
  std::ifstream file(test_data("counters/gh100_ranges.bin"), std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct prepared {
  prepared_counters groups;
  names warnings;
};

prepared prepare(cupti_api const& api, names metrics, bool one_pass = false) {
  auto const chip = host_profiler::open(api, counter_engine::ranges, "GH100", image());
  REQUIRE(chip);
  prepared made;
  auto groups = prepare_counters(
      api, *chip, {.metrics = std::move(metrics), .availability = image(), .one_pass = one_pass},
      made.warnings);
  REQUIRE(groups);
  made.groups = std::move(*groups);
  return made;
}

names chosen(std::string const& set) {
  auto metrics = chosen_metrics(names{set}, "GH100");
  REQUIRE(metrics);
  return *metrics;
}

names sorted(names metrics) {
  std::sort(metrics.begin(), metrics.end());
  return metrics;
}

}  // namespace

TEST_CASE("sets are prepared with all metrics of the plan, in no more passes", "[many trials]") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  for (auto const* const set : {"basic", "roofline", "explain"}) {
    CAPTURE(set);
    auto const metrics = chosen(set);
    auto const made = prepare(cupti->api, metrics);
    auto const plan = plan_passes(cupti->api, {"GH100", metrics, image(), {}, {}});
    REQUIRE(plan);
    CHECK(made.warnings.size() == plan->unusable.size());  // NVLink
    names here, planned;
    std::size_t passes = 0;
    for (auto const& group : made.groups) {
      here.insert(here.end(), group.metrics.begin(), group.metrics.end());
      passes += group.configuration.passes;
      CHECK(std::all_of(group.metrics.begin(), group.metrics.end(), [&](auto const& metric) {
        return patches_kernel(metric) == group.rewrites;
      }));
    }
    for (auto const& group : plan->launches)
      planned.insert(planned.end(), group.metrics.begin(), group.metrics.end());
    CHECK(sorted(here) == sorted(planned));
    CHECK(passes <= plan->launch_passes());
    CHECK(std::is_partitioned(made.groups.begin(), made.groups.end(),
                              [](prepared_group const& group) { return group.rewrites; }));
  }
}

TEST_CASE("a metric that this GPU lacks is reported, and the others are read") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  auto const made = prepare(cupti->api, {"sm__cycles_active.avg", "sm__cycles_activ.avg",
                                         "sm__cycles_active.avg", "dram__bytes_read.sum"});
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].metrics == names{"sm__cycles_active.avg", "dram__bytes_read.sum"});
  REQUIRE(made.warnings.size() == 1);
  CHECK(made.warnings[0].starts_with("sm__cycles_activ.avg is not read: "));
}

TEST_CASE("if every launch is read there is one pass, and metrics without room are reported") {
  auto const* const cupti = real_cupti();
  if (cupti == nullptr) return;
  auto const made = prepare(cupti->api, chosen("roofline"), true);
  REQUIRE(made.groups.size() == 1);
  CHECK(made.groups[0].configuration.passes == 1);
  REQUIRE(made.warnings.size() == 1);
  CHECK(made.warnings[0].find("around every launch one pass runs") != std::string::npos);
}

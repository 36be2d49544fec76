// SPDX-License-Identifier: Apache-2.0
#include "guest/metrics/planning/metric_sets.hpp"
#include "support/analyzed.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <set>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

/// One kernel with these counts; metrics that patch it are read from a launch of their own.
counted_flop flop_of(char const* chip, std::vector<std::string> const& metrics,
                     counted const& count) {
  counted_trace c(trace_of(
      {kernel("k", 100_us, 120_us).correlated(1), kernel("k", 200_us, 220_us).correlated(2)}));
  for (auto const& metric : metrics)
    c.plan(metric.find("__sass_") != std::string::npos ? 1 : 0, {metric});
  c.sample(1, 0, count).sample(2, 1, count);
  analyzed const a(c);
  return count_flop(a.metrics, a.workload_of(0), chip);
}

std::vector<std::string> roofline_set(char const* chip) {
  return contents_of(metric_set::roofline, chip).metrics;
}

bool counts_operations(std::string const& metric) {
  if (metric.find("op_control") != std::string::npos) return false;
  return metric.find("__sass_") != std::string::npos ||
         metric.find("__ops_path_tensor_") != std::string::npos;
}

}  // namespace

TEST_CASE("the set roofline holds exactly the counters that the accounting needs, on every chip") {
  for (auto const* const chip :
       {"GV100", "TU102", "TU104", "TU106", "TU116", "TU117", "GA100", "GA102", "GA103", "GA104",
        "GA106", "GA107", "GA10B", "GH100", "AD102", "AD103", "AD104", "AD106", "AD107", "GB100",
        "GB102", "GB110", "GB10B", "GB202", "GB203", "GB205", "GB206", "GB207", "GB20B"}) {
    std::set<std::string> read, needed;
    for (auto const& metric : roofline_set(chip))
      if (counts_operations(metric)) read.insert(metric);
    for (auto const& counter : flop_counters())
      if (has_counter(chip, counter).value()) needed.insert(std::string(counter.metric));
    INFO(chip);
    CHECK(read == needed);
    CHECK(flop_of(chip, roofline_set(chip), {}).total == 0);
  }
}

TEST_CASE("additions and multiplications are one operation, fused they are two") {
  auto const flop = flop_of("GH100", roofline_set("GH100"),
                            {{sass("fadd"), 1},
                             {sass("fmul"), 10},
                             {sass("ffma"), 100},
                             {sass("dadd"), 2},
                             {sass("dmul"), 20},
                             {sass("dfma"), 200}});
  CHECK(flop[precision::fp32] == 211);
  CHECK(flop[precision::fp64] == 422);
  CHECK(flop.total == 633);
}

TEST_CASE("tensor core operations are shown without a total if those of CUDA cores were not read") {
  auto read = roofline_set("GH100");
  std::erase_if(read, [](std::string const& m) { return m.find("__sass_") != std::string::npos; });
  auto const flop = flop_of("GH100", read, {{tensor("tf32_dst_fp32"), 30}, {tensor("fp64"), 4}});
  CHECK_FALSE(flop.total);
  CHECK(flop.tensor_alone == 34);
  CHECK_FALSE(flop_of("GH100", read, {}).tensor_alone);  // nothing to say of a kernel without any
  std::erase(read, tensor("int8"));
  CHECK_FALSE(flop_of("GH100", read, {{tensor("fp64"), 4}}).tensor_alone);
  CHECK_FALSE(flop_of("GH100", roofline_set("GH100"), {{tensor("fp64"), 4}}).tensor_alone);
}

TEST_CASE("instructions on two or four values count each value") {
  auto const flop = flop_of("GB100", roofline_set("GB100"),
                            {{sass("hadd"), 1},
                             {sass("hmul"), 10},
                             {sass("hfma"), 100},
                             {sass("ffma"), 1000},
                             {sass("fadd2"), 1},
                             {sass("fmul2"), 10},
                             {sass("ffma2"), 100},
                             {sass("qadd4"), 1},
                             {sass("qmul4"), 10},
                             {sass("qfma4"), 100}});
  CHECK(flop[precision::fp16] == 2 + 20 + 400);
  CHECK(flop[precision::fp32] == 2000 + 2 + 20 + 400);
  CHECK(flop[precision::fp8] == 4 + 40 + 800);
}

TEST_CASE("tensor operations are read under the metric names of each chip") {
  auto const hopper = flop_of("GH100", roofline_set("GH100"),
                              {{tensor("fp16"), 5}, {tensor("fp8"), 7}, {tensor("int8"), 9}});
  CHECK(hopper[precision::tensor_fp16] == 5);
  CHECK(hopper[precision::tensor_fp8] == 7);
  CHECK(hopper[precision::tensor_int8] == 9);
  CHECK_FALSE(hopper[precision::tensor_fp4]);  // has no such unit, and the total is whole
  CHECK(hopper.total == 21);
  auto const ampere = flop_of("GA100", roofline_set("GA100"),
                              {{tensor("fp16_dst_fp32"), 5}, {tensor("fp16_dst_fp16"), 6}});
  CHECK(ampere[precision::tensor_fp16] == 11);
  auto const blackwell = flop_of("GB202", roofline_set("GB202"),
                                 {{tensor("fp8_dst_fp32"), 1},
                                  {tensor("fp8_dst_fp16"), 2},
                                  {tensor("fp4_fp6_dst_fp32"), 4},
                                  {tensor("fp4_dst_fp32"), 8}});
  CHECK(blackwell[precision::tensor_fp8] == 3);
  CHECK(blackwell[precision::tensor_fp6] == 4);
  CHECK(blackwell[precision::tensor_fp4] == 8);
}

TEST_CASE("a precision is unknown if one of its counters was not read, and so is the total") {
  auto metrics = roofline_set("GH100");
  std::erase(metrics, sass("fmul"));
  auto const flop = flop_of("GH100", metrics, {{sass("ffma"), 1}, {sass("dadd"), 3}});
  CHECK_FALSE(flop[precision::fp32]);
  CHECK(flop[precision::fp64] == 3);
  CHECK_FALSE(flop.total);
}

TEST_CASE("for an unknown chip only planned metrics count, and there is no total") {
  auto const flop = flop_of("", {sass("ffma"), sass("fadd"), sass("fmul")}, {{sass("ffma"), 4}});
  CHECK(flop[precision::fp32] == 8);
  CHECK_FALSE(flop[precision::fp64]);
  CHECK_FALSE(flop.total);
}

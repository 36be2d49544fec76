// SPDX-License-Identifier: Apache-2.0
// Rules on what keeps warps from issuing.
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

/// Shared memory is busy for this share of the cycles.
made_kernel conflicting(double conflicts, double pipe) {
  auto const wavefronts = pipe * 132 * 100'000;
  return kernel_of("k", 400_ms)
      .at_dram(0.1)
      .issuing(0.7)
      .counting("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", wavefronts)
      .counting("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", conflicts * wavefronts);
}
made_kernel diverging(double threads, double issue) {
  return kernel_of("k", 400_ms)
      .at_dram(0.1)
      .issuing(issue)
      .counting("smsp__thread_inst_executed_pred_on.sum", threads * 1e6)
      .counting("smsp__inst_executed.sum", 1e6);
}
made_kernel stalled(double share, double issue) {
  return kernel_of("k", 400_ms).at_dram(0.2).issuing(issue).stalled("barrier", share);
}

}  // namespace

TEST_CASE("bank conflicts save the repeated accesses of a busy pipe") {
  auto const found = found_by("bank_conflicts", conflicting(0.5, 0.6));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.5 * 0.6 / 0.8));
  CHECK(found->gain.low_ns == Approx(400e6 * 0.5 * 0.36 / 2));
}

TEST_CASE("few conflicts, or conflicts in an idle pipe, are no finding") {
  CHECK(found_by("bank_conflicts", conflicting(0.1, 0.4)));
  CHECK(!found_by("bank_conflicts", conflicting(0.09, 0.8)));
  CHECK(!found_by("bank_conflicts", conflicting(0.5, 0.39)));
}

TEST_CASE("divergence saves the issue slots of idle threads") {
  auto const found = found_by("divergence", diverging(8, 0.8));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.75 * 0.8));
  CHECK(found->gain.low_ns == Approx(400e6 * 0.75 * 0.8 / 2));
  CHECK(found_by("divergence", diverging(23.9, 0.4)));
  CHECK(!found_by("divergence", diverging(24, 0.8)));
  CHECK(!found_by("divergence", diverging(8, 0.39)));
}

TEST_CASE("a stall is reported if no unit is busy and warps hardly issue") {
  auto const found = found_by("stalls", stalled(0.6, 0.2));
  REQUIRE(found);
  CHECK(found->what.find("barrier") != std::string::npos);
  CHECK(found->gain.low_ns == 0);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.6));
  CHECK(!found_by("below_roof", stalled(0.6, 0.2)));
}

TEST_CASE("no stall is reported at its thresholds") {
  CHECK(found_by("stalls", stalled(0.31, 0.59)));
  CHECK(!found_by("stalls", stalled(0.3, 0.59)));
  CHECK(!found_by("stalls", stalled(0.31, 0.6)));
  CHECK(!found_by("stalls", stalled(0.6, 0.2).at_l2(0.4)));
}

TEST_CASE("warp-specialized kernels wait by design: busy tensor cores suppress the stall finding") {
  CHECK(!found_by("stalls", stalled(0.6, 0.2).with_tensor_cores_active(0.4)));
}

// SPDX-License-Identifier: Apache-2.0
// Rules on grids, blocks and occupancy.
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

/// With blocks of 1024 threads, of which an SM of an H200 holds two: a wave has 264.
made_kernel in_blocks(std::uint32_t blocks) {
  return kernel_of("k", 400_ms).shaped({blocks, 1, 1}, {1024, 1, 1}).at_dram(0.1);
}
made_kernel with_idle_sms(made_kernel const& made, double idle) {
  return made.counting("sm__cycles_active.avg", 1 - idle).counting("sm__cycles_active.max", 1);
}
/// One block of 256 threads on each SM, for it takes all shared memory.
made_kernel crowded(std::string const& reason = "long_scoreboard") {
  return kernel_of("k", 400_ms)
      .using_shared_memory(200 << 10)
      .at_dram(0.1)
      .issuing(0.2)
      .stalled(reason, 0.6);
}

}  // namespace

TEST_CASE("a grid with fewer blocks than SMs leaves the others idle") {
  auto const found = found_by("small_grid", in_blocks(33));
  REQUIRE(found);
  CHECK(found->gain.low_ns == 0);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.75));
  CHECK(found_by("small_grid", in_blocks(120)));
  CHECK(!found_by("small_grid", in_blocks(132)));
}

TEST_CASE("a small grid beside other kernels, or in a short one, is no finding") {
  CHECK(!found_by("small_grid", in_blocks(33).beside_others()));
  CHECK(!found_by("small_grid", in_blocks(33).launched(100'000)));
}

TEST_CASE("one block too many makes a tail") {
  auto const found = found_by("tail", in_blocks(265));
  REQUIRE(found);
  auto const waste = (2 - 265. / 264) / 2;
  CHECK(found->gain.low_ns == 0);
  CHECK(found->gain.high_ns == Approx(400e6 * waste * 1.1));
  CHECK(found->what.starts_with("possibly"));
  CHECK(!found_by("tail", in_blocks(264)));
}

TEST_CASE("idle SMs confirm a tail, or deny it") {
  auto const found = found_by("tail", with_idle_sms(in_blocks(265), 0.4));
  REQUIRE(found);
  CHECK(!found->what.starts_with("possibly"));
  CHECK(found->gain.low_ns == Approx(400e6 * 0.4 / 2));
  CHECK(!found_by("tail", with_idle_sms(in_blocks(265), 0.2)));
  CHECK(!found_by("imbalance", with_idle_sms(in_blocks(265), 0.4)));
}

TEST_CASE("a tail of less than a tenth, or of a persistent kernel, is no finding") {
  CHECK(found_by("tail", in_blocks(264 * 4 + 132)));   // 4.5 waves
  CHECK(!found_by("tail", in_blocks(264 * 5 + 132)));  // 5.5 waves
  CHECK(!found_by("tail", in_blocks(264 * 20 + 1)));
  CHECK(!found_by("tail", in_blocks(132)));
}

TEST_CASE("a block whose size is not a multiple of 32 threads has idle lanes") {
  auto const made = kernel_of("k", 400_ms).shaped({10'000, 1, 1}, {48, 1, 1});
  auto const found = found_by("block_size", made);
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.25));
  CHECK(found_by("block_size", made.at_dram(0.5))->gain.high_ns == Approx(400e6 * 0.25 * 0.5));
  CHECK(!found_by("block_size", made.shaped({10'000, 1, 1}, {64, 1, 1})));
}

TEST_CASE("SMs that wait for the last one mean unequal work") {
  auto const found = found_by("imbalance", with_idle_sms(in_blocks(264 * 64), 0.3));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.3));
  CHECK(!found_by("imbalance", with_idle_sms(in_blocks(264 * 64), 0.049)));
  CHECK(!found_by("imbalance", with_idle_sms(in_blocks(264 * 64), 0.3).beside_others()));
}

TEST_CASE(
    "too few warps to hide latency: the finding names the limiter and what one more block needs") {
  auto const found = found_by("low_occupancy", crowded());
  REQUIRE(found);
  CHECK(found->what.find("204800 bytes of shared memory") != std::string::npos);
  CHECK(found->to_do.find("2 blocks") != std::string::npos);
  // One block of eight warps of 64; without shared memory eight blocks fit. The roof holds it to
  // an eighth.
  CHECK(found->gain.high_ns == Approx(400e6 * (1 - 0.125)));
  CHECK(found->gain.low_ns == Approx(400e6 * 0.5 / 2));
}

TEST_CASE("registers are named as a limiter") {
  auto const found = found_by(
      "low_occupancy",
      crowded().using_shared_memory(0).using_registers(168).shaped({132 * 64, 1, 1}, {384, 1, 1}));
  REQUIRE(found);
  CHECK(found->what.find("168 registers x 384 threads allow 1 block") != std::string::npos);
}

TEST_CASE("few warps are no finding unless the kernel is bound by latency and more warps help") {
  CHECK(!found_by("low_occupancy", crowded("barrier")));
  CHECK(!found_by("low_occupancy", crowded().at_l2(0.4)));
  CHECK(!found_by("low_occupancy", crowded().with_tensor_cores_active(0.4)));
  CHECK(!found_by("low_occupancy", crowded().using_shared_memory(48 << 10)));  // four: a half
  CHECK(!found_by("low_occupancy", crowded().shaped({132, 1, 1}, {256, 1, 1})));
}

// SPDX-License-Identifier: Apache-2.0
// Rules on bytes that kernels move without need.
#include "made_kernel.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;
using namespace gpuprof::test;

namespace {

auto const bytes_used = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";

made_kernel strided(double bytes, double dram_share) {
  return kernel_of("k", 400_ms).at_dram(dram_share).counting(bytes_used, bytes);
}

}  // namespace

TEST_CASE("strided loads can save the unused bytes, even at the roof of DRAM") {
  auto const found = found_by("uncoalesced", strided(4, 0.9));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * 7 / 8));
  CHECK(found->gain.low_ns == Approx(400e6 * 7 / 8 * 0.9 / 2));
  CHECK(give_advice(run_of({strided(4, 0.9)}), {}).findings.front().rule == "uncoalesced");
}

TEST_CASE("bytes that L1 keeps for the next load are not wasted") {
  auto const found = found_by("uncoalesced", strided(4, 0.5)
                                                 .counting("l1tex__t_sectors.sum", 1000)
                                                 .counting("l1tex__t_sectors_lookup_hit.sum", 875));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(400e6 * 7 / 8 / 8));
}

TEST_CASE("sector use of three quarters is enough, and it matters only if memory is busy") {
  CHECK(found_by("uncoalesced", strided(23, 0.9)));
  CHECK(!found_by("uncoalesced", strided(24, 0.9)));
  CHECK(found_by("uncoalesced", strided(8, 0.4)));
  CHECK(!found_by("uncoalesced", strided(8, 0.39)));
}

TEST_CASE("if sector use is unknown, more than 16 sectors a load are too many") {
  auto const made = [](double sectors) {
    return kernel_of("k", 400_ms)
        .at_dram(0.8)
        .counting("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", sectors * 100)
        .counting("smsp__inst_executed_op_global_ld.sum", 100);
  };
  auto const found = found_by("uncoalesced", made(32));
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(200e6));
  CHECK(!found_by("uncoalesced", made(16)));
}

TEST_CASE("a rule whose data is not in the capture is not looked at") {
  auto run = run_of({strided(4, 0.9)});
  run.there = data::kernels | data::counters | data::peaks;
  auto const given = give_advice(run, {});
  auto const missing = std::find_if(given.missing.begin(), given.missing.end(),
                                    [](auto const& one) { return one.of->name == "uncoalesced"; });
  REQUIRE(missing != given.missing.end());
  CHECK(how_to_record(missing->missing) == "launches that --metrics auto --set explain reads");
}

TEST_CASE("spills save at best the traffic that is not global access") {
  auto const made = kernel_of("k", 400_ms)
                        .at_l2(0.5)
                        .using_local_memory(256)
                        .counting("l1tex__t_sectors.sum", 1000)
                        .counting("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 400);
  auto const found = found_by("local_memory", made);
  REQUIRE(found);
  CHECK(found->gain.low_ns == 0);
  CHECK(found->gain.high_ns == Approx(400e6 * 0.6 * 0.5));
  CHECK(!found_by("local_memory", made.using_local_memory(0)));
}

TEST_CASE("spills that were not counted claim no gain, and are named if memory is busy") {
  auto const made = [](double share) {
    return kernel_of("k", 400_ms).at_l2(share).using_local_memory(256);
  };
  auto const found = found_by("local_memory", made(0.4));
  REQUIRE(found);
  CHECK(found->level == severity::info);
  CHECK(found->gain.high_ns == 0);
  CHECK(!found_by("local_memory", made(0.39)));
}

TEST_CASE("host memory costs the time that the link takes beyond DRAM") {
  auto const made = [](double bytes) {  // of launches of 4 ms
    return kernel_of("k", 400_ms)
        .counting("lts__t_sectors_srcunit_tex_aperture_sysmem.sum", bytes / 32);
  };
  auto const found = found_by("remote_memory", made(100e6));  // 2 ms at 50 GB/s
  REQUIRE(found);
  CHECK(found->gain.high_ns == Approx(100 * (2e6 - 25e3)));
  CHECK(!found_by("remote_memory", made(39e6)));
}

// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/theory/theory.hpp"

#include "support/catch.hpp"

#include <set>
#include <string>

using namespace gpuprof::guest::peaks;

namespace {

chip_facts const h200_by_datasheet{.compute_major = 9,
                                   .compute_minor = 0,
                                   .sm_count = 132,
                                   .max_sm_clock_mhz = 1980,
                                   .max_memory_clock_mhz = 3201,
                                   .memory_bus_bits = 6144,
                                   .pcie_generation = 5,
                                   .pcie_width = 16};

chip_facts chip(int major, int minor) {
  auto facts = h200_by_datasheet;
  facts.compute_major = major;
  facts.compute_minor = minor;
  return facts;
}

double per_clock(test_id test, int major, int minor) {
  return theory_of(test, chip(major, minor)).per_clock;
}

}  // namespace

TEST_CASE("theory for an H200 equals the rates of its datasheet and clocks") {
  auto const tera = [](test_id test) { return theory_of(test, h200_by_datasheet).rate / 1e12; };
  CHECK(tera(test_id::fp32) == Approx(66.9).margin(0.05));
  CHECK(tera(test_id::fp64) == Approx(33.45).margin(0.05));
  CHECK(tera(test_id::fp16) == Approx(133.8).margin(0.05));
  CHECK(tera(test_id::bf16) == Approx(133.8).margin(0.05));
  CHECK(tera(test_id::int32) == Approx(33.45).margin(0.05));  // 16.7 T multiply-adds
  CHECK(tera(test_id::special) == Approx(4.18).margin(0.005));
  CHECK(tera(test_id::tensor_fp64) == Approx(66.9).margin(0.05));
  CHECK(tera(test_id::tensor_tf32) == Approx(535.3).margin(0.05));
  CHECK(tera(test_id::tensor_fp16) == Approx(1070.5).margin(0.05));
  CHECK(tera(test_id::tensor_bf16) == Approx(1070.5).margin(0.05));
  CHECK(tera(test_id::tensor_fp8) == Approx(2141).margin(0.5));
  CHECK(tera(test_id::tensor_int8) == Approx(2141).margin(0.5));
  CHECK(tera(test_id::shared_read) == Approx(33.45).margin(0.005));
  CHECK(tera(test_id::l2_read) == Approx(16.7).margin(0.05));
  CHECK(tera(test_id::dram_read) == Approx(4.917).margin(0.0005));
}

TEST_CASE("DRAM is judged by the bus the board says it has, not by that of the full chip") {
  auto board = h200_by_datasheet;
  board.memory_bus_bits = 6016;  // as H200 boards report it: the 4.8 TB/s of their datasheet
  CHECK(theory_of(test_id::dram_read, board).rate / 1e12 == Approx(4.814).margin(0.0005));
  CHECK(theory_of(test_id::dram_read, board).per_clock == 1504);
}

TEST_CASE("formulas show how a rate is computed") {
  CHECK(theory_of(test_id::fp32, h200_by_datasheet).formula == "132 SM x 1980 MHz x 256 FLOP/clk");
  CHECK(theory_of(test_id::tensor_int8, h200_by_datasheet).formula ==
        "132 SM x 1980 MHz x 8192 op/clk");
  CHECK(theory_of(test_id::shared_write, h200_by_datasheet).formula ==
        "132 SM x 1980 MHz x 128 B/clk");
  CHECK(theory_of(test_id::dram_triad, h200_by_datasheet).formula == "6144 bit / 8 x 3201 MHz x 2");
  CHECK(theory_of(test_id::h2d, h200_by_datasheet).formula ==
        "PCIe gen5: 32 GT/s x 16 lanes / 8 x 128/130");
}

TEST_CASE("each chip has the rates of its own units") {
  CHECK(per_clock(test_id::fp32, 7, 5) == 128);
  CHECK(per_clock(test_id::fp64, 7, 5) == 4);
  CHECK(per_clock(test_id::tensor_fp16, 7, 5) == 1024);
  CHECK(per_clock(test_id::tensor_int8, 7, 5) == 2048);
  CHECK(per_clock(test_id::l1_read, 7, 5) == 64);
  CHECK(per_clock(test_id::shared_read, 7, 5) == 0);  // nobody has said

  CHECK(per_clock(test_id::fp64, 8, 0) == 64);
  CHECK(per_clock(test_id::fp16, 8, 0) == 512);
  CHECK(per_clock(test_id::bf16, 8, 0) == 256);
  CHECK(per_clock(test_id::tensor_fp64, 8, 0) == 128);
  CHECK(per_clock(test_id::tensor_bf16, 8, 0) == 2048);
  CHECK(per_clock(test_id::tensor_int8, 8, 0) == 4096);

  CHECK(per_clock(test_id::fp32, 8, 6) == 256);
  CHECK(per_clock(test_id::tensor_tf32, 8, 6) == 512);
  CHECK(per_clock(test_id::tensor_fp16_acc16, 8, 6) == 1024);

  CHECK(per_clock(test_id::tensor_int8, 8, 7) == 4096);
  CHECK(per_clock(test_id::tensor_bf16, 8, 7) == 2048);

  CHECK(per_clock(test_id::tensor_fp8, 8, 9) == 2048);
  CHECK(per_clock(test_id::tensor_bf16, 8, 9) == 1024);

  CHECK(per_clock(test_id::tensor_bf16, 9, 0) == 4096);
  CHECK(per_clock(test_id::tensor_fp64, 9, 0) == 256);

  CHECK(per_clock(test_id::tensor_fp64, 10, 0) == 128);
  CHECK(per_clock(test_id::tensor_tf32, 10, 0) == 4096);
  CHECK(per_clock(test_id::tensor_fp6, 10, 0) == 16384);
  CHECK(per_clock(test_id::tensor_fp4, 10, 0) == 32768);

  CHECK(per_clock(test_id::fp64, 10, 3) == 4);
  CHECK(per_clock(test_id::special, 10, 3) == 32);
  CHECK(per_clock(test_id::tensor_fp4, 10, 3) == 49152);

  for (int const minor : {0, 1}) {
    CHECK(per_clock(test_id::int32, 12, minor) == 128);
    CHECK(per_clock(test_id::tensor_fp8, 12, minor) == 2048);
    CHECK(per_clock(test_id::tensor_fp4, 12, minor) == 4096);
  }
}

TEST_CASE("the table has each chip once") {
  std::set<std::pair<int, int>> seen;
  for (auto const& rates : all_chip_rates) CHECK(seen.insert({rates.major, rates.minor}).second);
  CHECK(seen.size() == 10);
}

TEST_CASE("a chip has the units whose rates its table gives") {
  CHECK_FALSE(chip_has(test_id::bf16, 7, 5));
  CHECK_FALSE(chip_has(test_id::tensor_bf16, 7, 5));
  CHECK_FALSE(chip_has(test_id::tensor_tf32, 7, 5));
  CHECK(chip_has(test_id::tensor_fp16, 7, 5));
  CHECK(chip_has(test_id::shared_read, 7, 5));  // its rate is not known, its units are there
  CHECK(chip_has(test_id::tensor_fp64, 8, 0));
  CHECK_FALSE(chip_has(test_id::tensor_fp64, 8, 6));
  CHECK_FALSE(chip_has(test_id::tensor_fp8, 8, 6));
  CHECK(chip_has(test_id::bf16, 8, 7));
  CHECK(chip_has(test_id::tensor_fp8, 8, 9));
  CHECK(chip_has(test_id::tensor_fp8, 9, 0));
  CHECK_FALSE(chip_has(test_id::tensor_fp4, 9, 0));
  CHECK(chip_has(test_id::tensor_int8, 10, 0));
  CHECK_FALSE(chip_has(test_id::tensor_int8, 10, 3));
  CHECK_FALSE(chip_has(test_id::tensor_fp64, 10, 3));
  CHECK(chip_has(test_id::tensor_fp6, 12, 1));
  for (auto const& rates : all_chip_rates) {
    for (auto const& test : all_tests()) {
      if (test.group != "tensor_cores" && test.id != test_id::bf16)
        CHECK(chip_has(test.id, rates.major, rates.minor));
      if (!chip_has(test.id, rates.major, rates.minor))
        CHECK(per_clock(test.id, rates.major, rates.minor) == 0);
    }
  }
}

TEST_CASE("a chip newer than the table measures the units of all chips without theory") {
  for (auto const test : {test_id::fp32, test_id::special, test_id::tensor_bf16,
                          test_id::tensor_fp16, test_id::tensor_tf32, test_id::tensor_int8,
                          test_id::shared_read, test_id::l2_read, test_id::launch_latency}) {
    CHECK(chip_has(test, 14, 0));
    CHECK(theory_of(test, chip(14, 0)).per_clock == 0);
    CHECK(theory_of(test, chip(14, 0)).rate == 0);
    CHECK(theory_of(test, chip(14, 0)).formula.empty());
  }
  CHECK_FALSE(chip_has(test_id::tensor_fp64, 14, 0));
  CHECK_FALSE(chip_has(test_id::tensor_fp4, 14, 0));
  CHECK(theory_of(test_id::dram_read, chip(14, 0)).rate > 0);  // bus and clock say it
  CHECK(theory_of(test_id::h2d, chip(14, 0)).rate > 0);
}

TEST_CASE("unknown facts of a chip leave out the rates that depend on them") {
  auto no_clock = h200_by_datasheet;
  no_clock.max_sm_clock_mhz = no_clock.max_memory_clock_mhz = 0;
  no_clock.pcie_width = 0;
  CHECK(theory_of(test_id::tensor_bf16, no_clock).per_clock == 4096);
  CHECK(theory_of(test_id::tensor_bf16, no_clock).rate == 0);
  CHECK(theory_of(test_id::tensor_bf16, no_clock).formula.empty());
  CHECK(theory_of(test_id::dram_read, no_clock).per_clock == 1536);
  CHECK(theory_of(test_id::dram_read, no_clock).rate == 0);
  CHECK(theory_of(test_id::h2d, no_clock).rate == 0);
  CHECK(theory_of(test_id::h2d, no_clock).formula.empty());
}

TEST_CASE("host links have the rate that their encoding leaves, both directions twice that rate") {
  auto const gigabytes = [](test_id test, int generation, int width) {
    auto facts = h200_by_datasheet;
    facts.pcie_generation = generation;
    facts.pcie_width = width;
    return theory_of(test, facts).rate / 1e9;
  };
  CHECK(gigabytes(test_id::h2d, 3, 16) == Approx(15.75).margin(0.01));
  CHECK(gigabytes(test_id::h2d, 4, 16) == Approx(31.5).margin(0.01));
  CHECK(gigabytes(test_id::d2h, 5, 16) == Approx(63.0).margin(0.02));
  CHECK(gigabytes(test_id::h2d_pageable, 5, 8) == Approx(31.5).margin(0.01));
  CHECK(gigabytes(test_id::h2d_d2h, 5, 16) == Approx(126.0).margin(0.04));
  CHECK(gigabytes(test_id::h2d, 6, 16) == Approx(121.0).margin(0.01));
  CHECK(gigabytes(test_id::h2d, 1, 16) == Approx(4.0));
  CHECK(gigabytes(test_id::h2d, 99, 16) == 0);
  CHECK(theory_of(test_id::h2d, h200_by_datasheet).per_clock == 0);
}

TEST_CASE("there is no theory for latencies and peer copies") {
  for (auto const test : {test_id::p2p, test_id::launch_latency, test_id::launch_throughput,
                          test_id::graph_node, test_id::synchronize}) {
    CHECK(theory_of(test, h200_by_datasheet).rate == 0);
    CHECK(theory_of(test, h200_by_datasheet).per_clock == 0);
  }
}

TEST_CASE("a GeForce measured at half the rate has half the theory") {
  auto const geforce = chip(8, 9);
  auto const full = theory_of(test_id::tensor_bf16, geforce);
  auto const half = fitted_to(full, test_id::tensor_bf16, geforce, 509);
  CHECK(half.per_clock == 512);
  CHECK(half.rate == full.rate / 2);
  CHECK(half.formula == "132 SM x 1980 MHz x 512 FLOP/clk");
  CHECK(fitted_to(full, test_id::tensor_bf16, geforce, 514).per_clock == 512);  // within the clocks
  CHECK(fitted_to(full, test_id::tensor_bf16, geforce, 1015).per_clock == 1024);
  CHECK(fitted_to(full, test_id::tensor_bf16, geforce, 700).per_clock == 1024);
}

TEST_CASE("a rate far below the half is not explained by a GeForce") {
  auto const turing = chip(7, 5);
  auto const full = theory_of(test_id::tensor_fp16, turing);
  CHECK(fitted_to(full, test_id::tensor_fp16, turing, 500).per_clock == 512);
  CHECK(fitted_to(full, test_id::tensor_fp16, turing, 250).per_clock == 1024);
  CHECK(fitted_to(full, test_id::tensor_fp16, turing, 0).per_clock == 1024);
}

TEST_CASE("only types and chips that are sold with half the rate may get it") {
  auto const fitted = [](test_id test, chip_facts const& facts) {
    auto const given = theory_of(test, facts);
    return fitted_to(given, test, facts, given.per_clock / 2).per_clock / given.per_clock;
  };
  CHECK(fitted(test_id::tensor_bf16, h200_by_datasheet) == 1);
  CHECK(fitted(test_id::tensor_bf16, chip(8, 0)) == 1);
  CHECK(fitted(test_id::tensor_fp16_acc16, chip(8, 9)) == 1);
  CHECK(fitted(test_id::tensor_int8, chip(8, 9)) == 1);
  CHECK(fitted(test_id::tensor_fp4, chip(12, 0)) == 1);
  CHECK(fitted(test_id::fp32, chip(8, 6)) == 1);
  CHECK(fitted(test_id::tensor_fp8, chip(12, 0)) == 0.5);
  CHECK(fitted(test_id::tensor_tf32, chip(8, 6)) == 0.5);
  auto const unknown = theory_of(test_id::tensor_bf16, chip(14, 0));
  CHECK(fitted_to(unknown, test_id::tensor_bf16, chip(14, 0), 500).per_clock == 0);
}

TEST_CASE("half a per cent above theory is caused by clocks, more is a broken test") {
  CHECK_FALSE(is_above(4096, 4096));
  CHECK_FALSE(is_above(4116, 4096));
  CHECK(is_above(4117, 4096));
  CHECK_FALSE(is_above(4117, 0));
}

// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/store/gpu_key.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::guest::peaks;

namespace {

driver_facts const driver{.cuda_version = 13000, .version = "580.159.04", .devices = {}};

device_facts h200_facts() {
  device_facts device;
  device.name = "NVIDIA H200";
  device.uuid = "GPU-4c7d";
  device.compute_major = 9;
  device.sm_count = 132;
  device.max_sm_clock_khz = 1'980'000;
  device.max_memory_clock_khz = 3'201'000;
  device.memory_bus_bits = 6144;
  device.memory_bytes = 150'000'000'000;
  return device;
}

nvml_facts board() {
  nvml_facts facts;
  facts.power_limit_w = 700;
  facts.application_sm_clock_mhz = facts.default_application_sm_clock_mhz = 1980;
  facts.ecc = true;
  facts.max_pcie_generation = 5;
  facts.max_pcie_width = 16;
  facts.pcie_generation = 1;
  facts.pcie_width = 16;
  return facts;
}

peaks_key key(device_facts const& device, nvml_facts const& facts) {
  return make_key(driver, device, facts, "k1");
}

}  // namespace

TEST_CASE("the key of a GPU holds everything its results depend on") {
  auto const k = key(h200_facts(), board());
  CHECK(k.uuid == "GPU-4c7d");
  CHECK(k.driver_version == "580.159.04");
  CHECK(k.kernels == "k1");
  CHECK(k.power_limit_w == 700);
  CHECK(k.max_sm_clock_mhz == 1980);
  CHECK(k.max_memory_clock_mhz == 3201);
  CHECK(k.application_sm_clock_mhz == 0);
  CHECK(k.ecc);
  CHECK(k.sm_count == 132);
  CHECK(k.memory_bytes == 150'000'000'000);
  CHECK(k == key(h200_facts(), board()));
}

TEST_CASE("anything that would change results changes the key") {
  auto const k = key(h200_facts(), board());
  auto device = h200_facts();
  device.uuid = "MIG-4c7d";
  CHECK_FALSE(k == key(device, board()));
  device = h200_facts();
  device.sm_count = 16;
  CHECK_FALSE(k == key(device, board()));
  device = h200_facts();
  device.memory_bytes /= 7;
  CHECK_FALSE(k == key(device, board()));
  device = h200_facts();
  device.max_sm_clock_khz = 1'830'000;
  CHECK_FALSE(k == key(device, board()));
  auto facts = board();
  facts.power_limit_w = 500;
  CHECK_FALSE(k == key(h200_facts(), facts));
  facts = board();
  facts.application_sm_clock_mhz = 1500;
  CHECK_FALSE(k == key(h200_facts(), facts));
  facts = board();
  facts.ecc = false;
  CHECK_FALSE(k == key(h200_facts(), facts));
  CHECK_FALSE(k == make_key(driver, h200_facts(), board(), "k2"));
  auto newer = driver;
  newer.version = "590.1";
  CHECK_FALSE(k == make_key(newer, h200_facts(), board(), "k1"));
}

TEST_CASE("names and idle links do not change the key") {
  auto device = h200_facts();
  device.name = "another";
  device.ordinal = 3;
  auto facts = board();
  facts.pcie_generation = 5;
  CHECK(key(h200_facts(), board()) == key(device, facts));
}

TEST_CASE("without NVML the CUDA version replaces the driver version") {
  auto nameless = driver;
  nameless.version.clear();
  CHECK(make_key(nameless, h200_facts(), {}, "k1").driver_version == "CUDA 13.0");
}

TEST_CASE("theory uses the clocks, the bus and the fastest link") {
  auto const chip = chip_facts_of(h200_facts(), board());
  CHECK(chip.compute_major == 9);
  CHECK(chip.compute_minor == 0);
  CHECK(chip.sm_count == 132);
  CHECK(chip.max_sm_clock_mhz == 1980);
  CHECK(chip.max_memory_clock_mhz == 3201);
  CHECK(chip.memory_bus_bits == 6144);
  CHECK(chip.pcie_generation == 5);
  CHECK(chip.pcie_width == 16);
}

TEST_CASE("a virtual machine that understates its link does not lower the theory") {
  auto facts = board();
  facts.max_pcie_generation = 3;
  facts.pcie_generation = 5;
  CHECK(chip_facts_of(h200_facts(), facts).pcie_generation == 5);
}

TEST_CASE("copies over NVLink-C2C have no PCIe theory") {
  auto facts = board();
  facts.c2c_links = 14;
  CHECK(chip_facts_of(h200_facts(), facts).pcie_generation == 0);
  CHECK(theory_of(test_id::h2d, chip_facts_of(h200_facts(), facts)).rate == 0);
}

// SPDX-License-Identifier: Apache-2.0
// What is read from an NVML: from the fake one of the machine of a recorded session, in the states
// its environment gives it, and from one that has hardly a function. A case runs with its tag.
#include "guest/peaks/neighbors.hpp"
#include "replay/format/recording_file.hpp"
#include "support/catch.hpp"

#include <cstdlib>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::guest::peaks;

namespace {

nvml opened() {
  auto library = nvml::open();
  if (!library) FAIL(library.message());
  return std::move(*library);
}

std::string recorded_uuid() {
  char const* const path = std::getenv("REPLAY_SESSION");
  REQUIRE(path != nullptr);
  auto const r = replay::read_recording(path);
  REQUIRE(r);
  return r->fact("device.0.uuid");
}

nvml_device recorded_gpu(nvml const& library) {
  auto const device = library.device(recorded_uuid());
  REQUIRE(device);
  return *device;
}

}  // namespace

TEST_CASE("NVML gives the limits and links of a board", "[.][idle]") {
  auto const library = opened();
  CHECK(library.driver_version() == "580.159.04");
  auto const device = recorded_gpu(library);
  CHECK_FALSE(device.is_slice());
  CHECK(device.uuid() == recorded_uuid());
  auto const facts = device.facts();
  CHECK(facts.max_sm_clock_mhz == 1980);
  CHECK(facts.max_memory_clock_mhz == 3201);
  CHECK(facts.memory_bus_bits == 6016);
  CHECK(facts.power_limit_w == 700);
  CHECK(facts.application_sm_clock_mhz == 1980);
  CHECK(facts.default_application_sm_clock_mhz == 1980);
  CHECK(facts.ecc);
  CHECK_FALSE(facts.mig);
  CHECK(facts.max_pcie_generation == 5);
  CHECK(facts.max_pcie_width == 16);
  CHECK(facts.pcie_generation == 1);
  CHECK(facts.pcie_width == 16);
  CHECK(facts.c2c_links == 0);
}

TEST_CASE("NVML gives the current state of a chip, with the current power", "[.][idle]") {
  auto const library = opened();
  auto const device = recorded_gpu(library);
  auto const now = device.read();
  CHECK(now.sm_clock_mhz == 1980);
  CHECK(now.memory_clock_mhz == 3201);
  CHECK(now.watts == Approx(76.5));
  CHECK(now.temperature_c == 31);
  CHECK(now.limiters == 1);
  CHECK(device.energy_mj() == 123'456'789u);
}

TEST_CASE("an idle GPU is free and an unknown one is not found", "[.][idle]") {
  auto const library = opened();
  auto const load = who_loads(library, recorded_uuid());
  REQUIRE(load);
  CHECK_FALSE(*load);
  CHECK(recorded_gpu(library).processes()->empty());
  CHECK_FALSE(library.device("GPU-00000000-0000-0000-0000-000000000000"));
  CHECK_FALSE(who_loads(library, "GPU-00000000"));
}

TEST_CASE("a busy GPU is reported with the processes that have it open", "[.][busy]") {
  auto const library = opened();
  auto const load = who_loads(library, recorded_uuid());
  REQUIRE(load);
  REQUIRE(*load);
  CHECK((*load)->gpu_percent == 57);
  CHECK_FALSE((*load)->is_own);
  auto const& others = (*load)->others;  // without this process
  REQUIRE(others.size() == 2);
  CHECK(others[0].pid == 1);
  CHECK_FALSE(others[0].command.empty());
  CHECK(others[0].memory_bytes == 1u << 30);
  CHECK(others[1].pid == 4194303);  // above any that the kernel gives
  CHECK(others[1].command.empty());
}

TEST_CASE("a load that ends during the check does not count", "[.][ending]") {
  auto const library = opened();
  auto const load = who_loads(library, recorded_uuid());
  REQUIRE(load);
  CHECK_FALSE(*load);
}

TEST_CASE("a slice is found by CUDA's UUID, and its load is unknown", "[.][slice]") {
  auto const library = opened();
  auto const device = recorded_gpu(library);
  CHECK(device.is_slice());
  CHECK(device.uuid() == "MIG-" + recorded_uuid().substr(4));
  CHECK(device.facts().mig);
  CHECK(device.facts().power_limit_w == 700);
  auto const load = who_loads(library, device.uuid());
  REQUIRE_FALSE(load);
  CHECK(load.message() ==
        "NVML tells no load of a MIG slice: whether another process loads it is not known");
}

TEST_CASE("functions missing from NVML leave their values empty", "[.][sparse]") {
  auto const library = opened();
  CHECK(library.driver_version().empty());
  auto const device = library.device("GPU-1");
  REQUIRE(device);
  auto const facts = device->facts();
  CHECK(facts.max_sm_clock_mhz == 0);
  CHECK(facts.power_limit_w == 0);
  CHECK_FALSE(facts.ecc);
  CHECK(facts.max_pcie_generation == 0);
  CHECK(facts.c2c_links == 0);
  CHECK_FALSE(device->energy_mj());
  CHECK_FALSE(device->utilization());
  CHECK_FALSE(device->processes());
  CHECK_FALSE(who_loads(library, "GPU-1"));
}

TEST_CASE("older functions replace missing newer ones", "[.][sparse]") {
  auto const library = opened();
  auto const device = library.device("GPU-1");
  REQUIRE(device);
  auto const now = device->read();
  CHECK(now.watts == Approx(81.5));
  CHECK(now.temperature_c == 41);
  CHECK(now.limiters == 4);
}

// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/neighbors.hpp"

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::guest::peaks;

namespace {

constexpr std::uint64_t gib = 1u << 30;

load_readings percent(std::vector<unsigned> readings) {
  return {.gpu_percent = std::move(readings), .others = {}, .is_own = false};
}

}  // namespace

TEST_CASE("a GPU below ten per cent load is free, whichever process has it open") {
  CHECK_FALSE(load_in(percent({0, 0, 0, 0, 0})));
  CHECK_FALSE(load_in(percent({9, 3, 9, 0, 9})));
  CHECK_FALSE(load_in(percent({})));
  auto idle = percent({0, 0, 0, 0, 0});
  idle.others = {{77, "jupyter", 3 * gib}};
  CHECK_FALSE(load_in(idle));
}

TEST_CASE("one reading of ten per cent in the last 100 ms makes the GPU busy") {
  auto const load = load_in(percent({0, 0, 12, 0, 0}));
  REQUIRE(load);
  CHECK(load->gpu_percent == 12);
  CHECK(load_in(percent({10})));
}

TEST_CASE("a load that ends during the check came from a process that has ended") {
  CHECK_FALSE(load_in(percent({98, 98, 40, 0, 0, 0, 0, 0})));
  CHECK(load_in(percent({98, 98, 40, 0, 0, 0, 0})));
}

TEST_CASE("the load belongs to this process only if no other process is there") {
  auto readings = percent({50});
  readings.is_own = true;
  CHECK(load_in(readings)->is_own);
  readings.others = {{77, "python", gib}};
  CHECK_FALSE(load_in(readings)->is_own);
}

TEST_CASE("one line names the process that loads the GPU, the load, its effect and the remedy") {
  gpu_load load{57, {{4242, "python", 12 * gib}}, false};
  CHECK(
      text_of(load, "NVIDIA H200") ==
      "NVIDIA H200 is 57 % busy before we start, with work of python (pid 4242, 12.0 GiB): figures "
      "measured now would be too low; wait for it to end, or measure all the same with --force");
  load.others = {{4242, "", 0}};
  CHECK(text_of(load, "GPU").find("one not visible from here (pid 4242):") != std::string::npos);
  load.others = {{1, "a", 0}, {2, "b", 0}, {3, "c", 0}, {4, "d", 0}, {5, "e", 0}};
  CHECK(text_of(load, "GPU").find("a (pid 1), b (pid 2), c (pid 3) and 2 more:") !=
        std::string::npos);
  load.others.clear();
  CHECK(text_of(load, "GPU")
            .find("a process that is not visible from here (another container or "
                  "user):") != std::string::npos);
  load.is_own = true;
  CHECK(text_of(load, "GPU").find("with work of this process itself:") != std::string::npos);
}

TEST_CASE("MPS gives a remark if its daemon has its pipe") {
  char folder[] = "/tmp/gpuprof-mps-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  CHECK_FALSE(mps_remark(folder, "50"));
  std::ofstream(std::string(folder) + "/control") << "";
  CHECK(mps_remark(folder, "")->find("MPS is on") == 0);
  CHECK(mps_remark(folder, "50")->find("leaves us 50 % of the SMs") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a MIG slice is worth a remark") {
  device_facts device;
  device.uuid = "GPU-1";
  device.sm_count = 16;
  CHECK_FALSE(mig_remark(device));
  device.uuid = "MIG-1";
  CHECK(mig_remark(device)->find("a MIG slice with 16 SMs") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#include "chip_at_hand.hpp"

#include "child_probe.hpp"
#include "guest/driver/device_facts.hpp"
#include "guest/metrics/planning/counter_library.hpp"

#include <cstdlib>

namespace gpuprof::host::command {

using namespace guest;

namespace {

findings probe_chip() {
  unsetenv("CUDA_INJECTION64_PATH");  // no tool is to start in the probe
  findings found;
  auto const driver = load_cuda_driver();
  if (!driver) {
    found["missing"] = driver.message();
    return found;
  }
  if (driver->cuInit == nullptr || driver->cuInit(0) != CUDA_SUCCESS) {
    found["missing"] = "cuInit failed, see gpuprof status";
    return found;
  }
  auto const facts = read_driver_facts(*driver);
  if (facts.devices.empty()) {
    found["missing"] = "none is visible";
    return found;
  }
  auto const& gpu = facts.devices.front();
  auto& chip = found["chip"] = chip_of_gpu(0, static_cast<unsigned>(facts.cuda_version / 1000),
                                           gpu.compute_major, gpu.compute_minor);
  if (chip.empty()) found["missing"] = gpu.name + " is of no chip that is known";
  return found;
}

}  // namespace

result<std::string> chip_at_hand() {
  auto outcome = probe_in_child(probe_chip);
  if (!outcome.failure.empty()) return error{"the probe " + outcome.failure};
  if (auto const missing = outcome.found.find("missing"); missing != outcome.found.end())
    return error{missing->second};
  return outcome.found["chip"];
}

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
// The parameters of a launch are read before the call: what the program passes may not be there.
#include "guest/cupti/call_parameters.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstdint>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

auto const nothing = std::uintptr_t{16};

struct extended_launch {
  std::array<CUlaunchAttribute, 1> attributes{};
  CUlaunchConfig config{};
  cuLaunchKernelEx_params parameters{};
  launch_parameters found;

  extended_launch() {
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[0].value.cooperative = 1;
    config.gridDimX = 7;
    config.attrs = attributes.data();
    config.numAttrs = 1;
    parameters.config = &config;
  }
  bool is_read() {
    CUpti_CallbackData call{};
    call.functionParams = &parameters;
    return read_launch_parameters(launch_call_named("cuLaunchKernelEx"), call, found);
  }
};

}  // namespace

TEST_CASE("a launch with a configuration is read with its attributes") {
  extended_launch launch;
  REQUIRE(launch.is_read());
  CHECK(launch.found.grid[0] == 7);
  CHECK(launch.found.cooperative);
}

TEST_CASE("a missing configuration or missing attributes are not read") {
  extended_launch no_config, no_attributes, too_many;
  no_config.parameters.config = reinterpret_cast<CUlaunchConfig const*>(nothing);
  CHECK_FALSE(no_config.is_read());
  no_config.parameters.config = nullptr;
  CHECK_FALSE(no_config.is_read());
  no_attributes.config.attrs = reinterpret_cast<CUlaunchAttribute*>(nothing);
  CHECK_FALSE(no_attributes.is_read());
  too_many.config.numAttrs = ~0u;
  CHECK_FALSE(too_many.is_read());
}

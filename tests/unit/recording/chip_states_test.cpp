// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/chip_states.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

context_record context_on(std::uint32_t device) {
  context_record context;
  context.device = static_cast<device_id>(device);
  return context;
}

}  // namespace

TEST_CASE("the state of each GPU with work is read ten times a second") {
  chip_state_times times;
  CHECK(times.due(5).empty());
  times.add(context_on(2));
  times.add(context_on(0));
  times.add(context_on(2));
  CHECK(times.due(10) == std::vector{device_id{2}, device_id{0}});
  CHECK(times.due(99'999'999).empty());
  CHECK(times.due(100'000'010).size() == 2);
}

TEST_CASE("without NVML no state is recorded and nothing fails") {
  chip_states states;
  auto const rows = states.read({device_id{0}});
  if (!nvml::open()) CHECK(rows.empty());
  CHECK(rows.size() <= 1);  // where there is one, a GPU has one state at a time
}

// SPDX-License-Identifier: Apache-2.0
// Which chip is meant.
#include "guest/metrics/planning/counter_library.hpp"
#include "support/catch.hpp"

#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("a chip name may be in upper or lower case") {
  std::vector<std::string> const chips{"TU102", "GA100", "GH100"};
  CHECK(*chip_named("GH100", chips) == "GH100");
  CHECK(*chip_named("gh100", chips) == "GH100");
}

TEST_CASE("an unknown chip gives the nearest and all known ones") {
  std::vector<std::string> const chips{"TU102", "GA100", "GH100"};
  CHECK(chip_named("GH101", chips).message() ==
        "there is no chip 'GH101', did you mean GH100?; known are TU102 GA100 GH100");
  CHECK(chip_named("Hopper", chips).message() ==
        "there is no chip 'Hopper'; known are TU102 GA100 GH100");
}

TEST_CASE("a compute capability gives the chip if CUPTI does not") {
  CHECK(chip_of_compute_capability(9, 0) == "GH100");
  CHECK(chip_of_compute_capability(12, 0) == "GB202");
  CHECK(chip_of_compute_capability(6, 1).empty());
}

// SPDX-License-Identifier: Apache-2.0
// Which chip is meant.
#include "guest/metrics/planning/counter_library.hpp"
#include "support/catch.hpp"

#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("a chip is found in whatever case it is written") {
  std::vector<std::string> const chips{"TU102", "GA100", "GH100"};
  CHECK(*chip_named("GH100", chips) == "GH100");
  CHECK(*chip_named("gh100", chips) == "GH100");
}

TEST_CASE("a chip that is not known gives the nearest and all others") {
  std::vector<std::string> const chips{"TU102", "GA100", "GH100"};
  CHECK(chip_named("GH101", chips).message() ==
        "there is no chip 'GH101', did you mean GH100?; known are TU102 GA100 GH100");
  CHECK(chip_named("Hopper", chips).message() ==
        "there is no chip 'Hopper'; known are TU102 GA100 GH100");
}

TEST_CASE("a compute capability stands for a chip where CUPTI does not say which") {
  CHECK(chip_of_compute_capability(9, 0) == "GH100");
  CHECK(chip_of_compute_capability(12, 0) == "GB202");
  CHECK(chip_of_compute_capability(6, 1).empty());
}

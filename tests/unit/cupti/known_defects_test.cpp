// SPDX-License-Identifier: Apache-2.0
// What is not asked of which version of CUPTI.
#include "guest/cupti/known_defects.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("known defects of each version are avoided, and users are told") {
  for (auto const version : {19u, 22u, 23u}) {
    auto const defects = known_defects_of(version);
    CHECK(defects.cannot_be_left);
    CHECK_FALSE(defects.should_not_flush);
    CHECK(describe(defects).find("stays in the program") != std::string::npos);
  }
  auto const first_13 = known_defects_of(130000);
  CHECK(first_13.cannot_stop_kernel_records);
  CHECK(first_13.should_not_flush);
  CHECK_FALSE(first_13.cannot_be_left);
  CHECK(describe(first_13).find("operations of CUDA cores are not counted") != std::string::npos);
  for (auto const version : {24u, 26u, 28u, 130001u, 130100u})
    CHECK(describe(known_defects_of(version)).empty());
}

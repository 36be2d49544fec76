// SPDX-License-Identifier: Apache-2.0
// Clocks of clients that go.
#include "guest/cupti/sharing/record_copies.hpp"
#include "support/catch.hpp"

#include <dlfcn.h>

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("a clock is forgotten when its library is closed") {
  auto* const library = dlopen(CLOSING_CLOCK, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto const clock =
      reinterpret_cast<CUpti_TimestampCallbackFunc>(dlsym(library, "clock_of_library"));
  REQUIRE(clock != nullptr);
  record_clock kept;
  kept.is_now(clock);
  CHECK(kept.is_theirs());
  CHECK_FALSE(kept.map().is_identity());
  REQUIRE(dlclose(library) == 0);
  REQUIRE(holder_of(reinterpret_cast<void const*>(clock)).base == 0);
  CHECK(kept.map().is_identity());
  CHECK_FALSE(kept.is_theirs());
}

TEST_CASE("code is assigned to the library that contains it") {
  auto const here = holder_of(reinterpret_cast<void const*>(&holder_of));
  CHECK(here.base != 0);
  CHECK(here != holder_of(reinterpret_cast<void const*>(&dlopen)));
  CHECK(holder_of(nullptr).base == 0);
}

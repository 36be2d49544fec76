// SPDX-License-Identifier: Apache-2.0
// When a program works steadily.
#include "guest/counters/recurring_work.hpp"

#include "support/catch.hpp"
#include "support/moments.hpp"

#include <initializer_list>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

class program {
 public:
  /// Tenths of a second with so many launches each.
  bool is_steady_after(std::initializer_list<std::uint64_t> tenths) {
    seen.note(now_, launches_);
    for (auto const launches : tenths) {
      seen.note(now_ += 50 * ms, launches_ + launches / 2);
      seen.note(now_ += 50 * ms, launches_ += launches);
    }
    return seen.is_steady();
  }

  recurring_work seen;

 private:
  std::uint64_t now_ = second, launches_ = 0;
};

}  // namespace

TEST_CASE("launches in each of five tenths of a second are steady work") {
  CHECK_FALSE(program().is_steady_after({100, 90, 110, 100}));
  CHECK(program().is_steady_after({100, 90, 110, 100, 30}));
  CHECK(program().is_steady_after({2, 2, 2, 2, 2}));  // long kernels
  CHECK_FALSE(program().is_steady_after({0, 0, 0, 0, 0}));
}

TEST_CASE("a program that starts does not work steadily, as long as it does") {
  CHECK_FALSE(program().is_steady_after({164, 330, 1, 2, 3, 2}));
  CHECK_FALSE(program().is_steady_after({251, 3, 266, 266, 278}));
  program starts;
  REQUIRE_FALSE(starts.is_steady_after({330, 1, 2, 3, 5000}));
  CHECK_FALSE(starts.is_steady_after({5000, 5000, 5000}));
  CHECK(starts.is_steady_after({5000}));
  CHECK_FALSE(starts.is_steady_after({0}));
}

TEST_CASE("what was before an interruption does not count") {
  program captured;
  REQUIRE(captured.is_steady_after({9, 9, 9, 9, 9}));
  captured.seen.interrupt();
  CHECK_FALSE(captured.is_steady_after({9, 9, 9, 9}));
  CHECK(captured.is_steady_after({9}));
}

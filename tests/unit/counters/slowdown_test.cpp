// SPDX-License-Identifier: Apache-2.0
// What is said of a program of which every launch is read.
#include "guest/counters/sampling_budget.hpp"
#include "support/catch.hpp"
#include "support/moments.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

TEST_CASE("a program that is held most of the time takes many times as long") {
  CHECK(times_slower({.passed_ns = 2 * second, .held_ns = second * 19 / 10}) == 20);
  CHECK(times_slower({.passed_ns = 2 * second}) == 1);
}

TEST_CASE("the time without holds is at least that of the kernels") {
  CHECK(times_slower({.passed_ns = 2 * second, .held_ns = 2 * second, .kernel_ns = second}) == 2);
  // On several streams or GPUs they may take longer, all together, than has passed.
  CHECK(times_slower({.passed_ns = second, .held_ns = second, .kernel_ns = 5 * second}) == 1);
}

TEST_CASE("the slowdown is known even if the program was held during the whole run") {
  CHECK(times_slower({.passed_ns = 2 * second, .held_ns = 2 * second}) == 1000);
}

TEST_CASE("the line says how much slower, what was read and what limits it") {
  CHECK(slowdown_line({.passed_ns = 2'100'000'000,
                       .held_ns = 1'950'000'000,
                       .kernel_ns = 0,
                       .launches_read = 1203}) ==
        "--metrics exact reads every launch alone: the program takes about 14.0 times as long "
        "(1203 launches read in 2.1 s). --launch-count, --kernel-name or --capture-range limit "
        "what is read");
}

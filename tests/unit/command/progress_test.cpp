// SPDX-License-Identifier: Apache-2.0
// What a long job says of itself on a terminal.
#include "progress.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::host::command;

TEST_CASE("progress is a share, a rate and the time that is left") {
  CHECK(progress_text(4'500'000, 10'000'000, 2'000'000'000) == "45 %, 2.2 M rows/s, 3 s left");
  CHECK(progress_text(10'000'000, 10'000'000, 4'000'000'000) == "100 %, 2.5 M rows/s");
}

TEST_CASE("progress estimates nothing before the first row, and never exceeds 100 %") {
  CHECK(progress_text(0, 100, 1'000'000'000) == "0 %");
  CHECK(progress_text(0, 0, 0) == "0 %");
  CHECK(progress_text(300, 100, 1'000'000'000) == "100 %, 0.0 M rows/s");
}

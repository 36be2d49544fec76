// SPDX-License-Identifier: Apache-2.0
#include "base/own_descriptor.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <unistd.h>

using namespace gpuprof;

TEST_CASE("own files do not take the number of a closed standard stream") {
  auto const kept = dup(STDIN_FILENO);
  close(STDIN_FILENO);
  auto const opened = open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(opened == STDIN_FILENO);
  own_descriptor ours(opened);
  CHECK(ours.get() > STDERR_FILENO);
  CHECK((fcntl(ours.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
  ours.close();
  if (kept >= 0) {
    dup2(kept, STDIN_FILENO);
    close(kept);
  }
}

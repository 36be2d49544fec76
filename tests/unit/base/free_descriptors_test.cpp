// SPDX-License-Identifier: Apache-2.0
// How many files a process may still open, with a limit of the test's own.
#include "base/own_descriptor.hpp"
#include "support/catch.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpuprof;

namespace {

/// Runs `act` in a child that may open `more` files; its answer.
template <class Act>
bool with_room_for(rlim_t more, Act act) {
  auto const child = fork();
  if (child == 0) {
    for (long file = sysconf(_SC_OPEN_MAX) - 1; file > 2; --file) close(static_cast<int>(file));
    rlimit const lower{3 + more, 3 + more};
    _exit(setrlimit(RLIMIT_NOFILE, &lower) == 0 && act() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

}  // namespace

TEST_CASE("free descriptors are the unused numbers below the limit") {
  CHECK(with_room_for(10, [] { return has_free_descriptors(10) && !has_free_descriptors(11); }));
  CHECK(with_room_for(0, [] { return has_free_descriptors(0) && !has_free_descriptors(1); }));
  CHECK(with_room_for(10, [] {
    for (int i = 0; i < 4; ++i) dup(0);
    close(4);  // a gap below the others
    return has_free_descriptors(7) && !has_free_descriptors(8);
  }));
}

TEST_CASE("descriptors are scarce when fewer than 64 are free, and asking opens none") {
  CHECK(with_room_for(63, [] { return descriptors_are_scarce(); }));
  CHECK(with_room_for(64, [] {
    errno = 7;
    return !descriptors_are_scarce() && errno == 7 && dup(0) == 3;
  }));
  CHECK_FALSE(with_room_for(100'000, [] { return descriptors_are_scarce(); }));
}

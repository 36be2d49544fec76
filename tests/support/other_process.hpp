// SPDX-License-Identifier: Apache-2.0
// A process beside the test, which lives until the test ends it.
#pragma once

#include "support/catch.hpp"

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace gpuprof::test {

/// A process that does something, says so, and then sleeps until it is killed.
class other_process {
 public:
  explicit other_process(std::function<bool()> const& act) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    id_ = fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      char const said = act() ? 'y' : 'n';
      if (write(ends[1], &said, 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    char said = '?';
    REQUIRE(read(ends[0], &said, 1) == 1);
    close(ends[0]);
    succeeded_ = said == 'y';
  }
  ~other_process() { kill(); }
  void kill() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = 0;
  }
  pid_t id() const { return id_; }
  bool succeeded() const { return succeeded_; }

 private:
  pid_t id_ = 0;
  bool succeeded_ = false;
};

}  // namespace gpuprof::test

// SPDX-License-Identifier: Apache-2.0
// Opens a capture that there is not, and says why it cannot.
#include <gpuprof/capture.hpp>

#include <cstdio>
#include <exception>

int main() {
  try {
    gpuprof::capture_file run("none.gpuprof");
  } catch (std::exception const& failure) {
    std::puts(failure.what());
    return 0;
  }
  return 1;
}

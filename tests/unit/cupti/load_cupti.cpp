// SPDX-License-Identifier: Apache-2.0
// Loads libcupti as the profiler does and says what came of it: a process of its own, since a
// loaded libcupti stays.
#include "guest/cupti/loader.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

int main(int count, char** arguments) {
  for (int i = 2; i < count; ++i) dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
  auto const driver = static_cast<unsigned>(std::atoi(count > 1 ? arguments[1] : "0"));
  auto const loaded = gpuprof::guest::load_cupti(driver);
  if (!loaded) {
    std::printf("none: %s\n", loaded.message().c_str());
    return 1;
  }
  std::printf("%u %s\n", loaded->version, loaded->path.c_str());
  return 0;
}

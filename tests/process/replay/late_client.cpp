// SPDX-License-Identifier: Apache-2.0
// A program that loads a client of CUPTI when it runs, as Python loads torch: REPLAY_LATE_LIBRARY
// is opened once libgpuprof_preload.so is there.
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>

namespace {

void load() {
  for (int i = 0; i < 20000; ++i) {
    if (dlopen("libgpuprof_preload.so", RTLD_LAZY | RTLD_NOLOAD) != nullptr) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (char const* const library = std::getenv("REPLAY_LATE_LIBRARY"))
    (void)dlopen(library, RTLD_NOW | RTLD_LOCAL);
}

__attribute__((constructor)) void begin() {
  std::thread(load).detach();
}

}  // namespace

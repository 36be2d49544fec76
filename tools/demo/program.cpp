// SPDX-License-Identifier: Apache-2.0
// play-session SESSION [--about]: a CUDA program to the profiler inside it. It loads the emulated
// driver as CUDA programs load the real one; the player is in the same library.
#include <cstdio>
#include <dlfcn.h>

int main(int count, char** words) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const play = library != nullptr ? dlsym(library, "gpuprof_demo_play") : nullptr;
  if (play == nullptr) {
    std::fprintf(stderr, "%s: the parts of the demo are not beside it: %s\n", words[0], dlerror());
    return 2;
  }
  return reinterpret_cast<int (*)(int, char**)>(play)(count, words);
}

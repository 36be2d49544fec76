// SPDX-License-Identifier: Apache-2.0
// Asks a libcupti for functions and calls none.
//
// asking_program LIBRARY         prints what errno and dlerror() say after each question
// asking_program LIBRARY fork    forks a child then, in which CUDA begins: is it profiled?
// asking_program LIBRARY begin   the same, but CUPTI is used before
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <sys/wait.h>
#include <unistd.h>

namespace {

template <class Function>
Function* find(void* library, char const* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void ask(void* library) {
  for (auto const* const name : {"cuptiSubscribe", "cuptiGetVersion", "cuptiActivityEnable",
                                 "cuptiGetTimestamp", "cuptiProfilerInitialize"}) {
    errno = 0;
    auto* const found = dlsym(library, name);
    auto const number = errno;
    char const* const error = dlerror();
    std::printf("%s found=%d errno=%d dlerror=%s\n", name, found != nullptr ? 1 : 0, number,
                error != nullptr ? error : "none");
  }
  std::fflush(stdout);
}

int begin_in_child() {
  auto* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto* const begin = driver != nullptr ? find<int(unsigned)>(driver, "cuInit") : nullptr;
  auto* const captures = find<int()>(RTLD_DEFAULT, "gpuprof_is_capturing");
  if (begin == nullptr || captures == nullptr) return 1;
  auto const code = begin(0);
  std::printf("cuInit=%d profiled=%d\n", code, captures());
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  auto* const library = count > 1 ? dlopen(words[1], RTLD_NOW) : nullptr;
  if (library == nullptr) return 1;
  ask(library);
  if (count < 3) return 0;
  if (std::strcmp(words[2], "begin") == 0)
    if (auto* const flush = find<int(std::uint32_t)>(library, "cuptiActivityFlushAll")) flush(0);
  auto const child = fork();
  if (child == 0) _exit(begin_in_child());
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

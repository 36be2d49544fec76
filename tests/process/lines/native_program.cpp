// SPDX-License-Identifier: Apache-2.0
// A program in C++ with known functions, which plays a session from them:
//   nested           app::model::forward > app::inner<int> > app::play, twice
//   late             a session, and one more when the profiler has had time for preparations
//   plugin FILE ...  loads each library, calls its entry(), and unloads it before the next one
//   blind            from a function that has no unwind tables
//   runtime          app::starts > even > libcudart_static_0123abcd, as a program does that has
//                    CUDA's runtime linked in: "even" is a kernel of the session, too
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <thread>

extern "C" void blind(void (*play)());

namespace app {

int (*play_session)(int, char**);

// Every function does something after its call, so that none is left early.
int volatile calls = 0;

__attribute__((always_inline)) inline void play_here() {
  char name[] = "play";
  char* words[] = {name, std::getenv("SESSION"), nullptr};
  if (play_session(2, words) != 0) std::exit(3);
  calls = calls + 1;
}

__attribute__((noinline)) void play() {
  play_here();
}

template <class Count>
__attribute__((noinline)) void inner(Count count) {
  for (Count i = 0; i < count; ++i) play();
  calls = calls + 1;
}

struct model {
  __attribute__((noinline)) void forward() {
    inner<int>(2);
    calls = calls + 1;
  }
};

/// The limit of stacks in a second must not leave the next part without any.
void wait_for_stacks() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
}

__attribute__((noinline)) int call_plugin(char const* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::puts(dlerror()), 4;
  reinterpret_cast<void (*)(void (*)())>(dlsym(library, "entry"))(play);
  return dlclose(library);
}

}  // namespace app

extern "C" __attribute__((noinline)) void libcudart_static_0123abcd() {
  app::play_here();
}

__attribute__((noinline)) void even(float*, int) {
  libcudart_static_0123abcd();
  app::calls = app::calls + 1;
}

namespace app {

__attribute__((noinline)) void starts() {
  even(nullptr, 0);
  calls = calls + 1;
}

}  // namespace app

int main(int count, char** words) {
  void* const player = dlopen(std::getenv("BUILT_PLAY_MODULE"), RTLD_NOW);
  if (player == nullptr) return std::puts(dlerror()), 2;
  app::play_session = reinterpret_cast<int (*)(int, char**)>(dlsym(player, "_Z12play_sessioniPPc"));
  std::string_view const what = count > 1 ? words[1] : "nested";
  if (what == "nested") app::model().forward();
  if (what == "late") {
    app::play();
    app::wait_for_stacks();
    app::inner<int>(1);
  }
  if (what == "blind") blind(app::play);
  if (what == "runtime") app::starts();
  if (what == "plugin")
    for (int i = 2; i < count; ++i) {
      if (i > 2) app::wait_for_stacks();
      if (auto const failed = app::call_plugin(words[i]); failed != 0) return failed;
    }
  return 0;
}

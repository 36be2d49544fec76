// SPDX-License-Identifier: Apache-2.0
#include "base/main_thread_end.hpp"

#include "base/process.hpp"

#include <cstdint>
#include <dlfcn.h>
#include <unistd.h>
#include <utility>

namespace gpuprof {
namespace {

/// False: this is not the main thread, or the C library cannot do it.
bool when_this_main_thread_ends(void (*f)()) noexcept {
  if (os_thread_id() != static_cast<std::uint32_t>(getpid())) return false;
  using registers = int (*)(void (*)(void*), void*, void*);
  auto const add = reinterpret_cast<registers>(dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl"));
  Dl_info here{};
  if (add == nullptr || dladdr(reinterpret_cast<void*>(&when_this_main_thread_ends), &here) == 0)
    return false;
  auto const call = [](void* what) { reinterpret_cast<void (*)()>(what)(); };
  return add(call, reinterpret_cast<void*>(f), here.dli_fbase) == 0;
}

}  // namespace

void main_thread_end::look_once() noexcept {
  static thread_local bool has_looked __attribute__((tls_model("initial-exec"))) = false;
  if (std::exchange(has_looked, true)) return;
  if (when_this_main_thread_ends(f_)) is_known_.store(true);
}

}  // namespace gpuprof

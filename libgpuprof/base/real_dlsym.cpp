// SPDX-License-Identifier: Apache-2.0
#include "base/real_dlsym.hpp"

#include <dlfcn.h>

namespace gpuprof {
namespace {

// Read and written by built-ins alone: a function of the standard library would be instrumented.
dlsym_function known = nullptr;

// Every release has the oldest one: asking for what is not there would allocate.
#if defined(__x86_64__)
constexpr char const* version = "GLIBC_2.2.5";
#else
constexpr char const* version = "GLIBC_2.17";
#endif

}  // namespace

// May be called before constructors have run, also those of sanitizers. Behind us there may be
// another one who stands before the C library's.
__attribute__((no_sanitize("address", "thread", "undefined"))) dlsym_function
real_dlsym() noexcept {
  auto function = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (function != nullptr) return function;
  function = reinterpret_cast<dlsym_function>(dlvsym(RTLD_NEXT, "dlsym", version));
  if (function == nullptr) return nullptr;
  if (auto* const next = function(RTLD_NEXT, "dlsym"))
    function = reinterpret_cast<dlsym_function>(next);
  __atomic_store_n(&known, function, __ATOMIC_RELAXED);
  return function;
}

}  // namespace gpuprof

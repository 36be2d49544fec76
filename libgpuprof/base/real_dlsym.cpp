// SPDX-License-Identifier: Apache-2.0
#include "base/real_dlsym.hpp"

#include <dlfcn.h>

namespace gpuprof {
namespace {

// Accessed by compiler built-ins only, because functions of the standard library would be
// instrumented.
dlsym_function known = nullptr;

// The oldest version, which every release has: looking up a missing one would allocate.
#if defined(__x86_64__)
constexpr char const* version = "GLIBC_2.2.5";
#else
constexpr char const* version = "GLIBC_2.17";
#endif

void* no_dlsym(void*, char const*) {
  return nullptr;
}

/// If a program links gpuprof through another library, the C library is in front of gpuprof, so
/// there is no next dlsym. Up to glibc 2.33 it is in libdl.
dlsym_function from_c_library() noexcept {
  constexpr char const* names[] = {"libc.so.6", "libdl.so.2"};
  for (auto const* const name : names) {
    auto* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (auto* const found = dlvsym(library, "dlsym", version))
      return reinterpret_cast<dlsym_function>(found);
  }
  return &no_dlsym;
}

}  // namespace

// May be called before constructors have run, including those of sanitizers. Another library may
// lie between gpuprof and the C library.
__attribute__((no_sanitize("address", "thread", "undefined"))) dlsym_function
real_dlsym() noexcept {
  auto function = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (function != nullptr) return function;
  function = reinterpret_cast<dlsym_function>(dlvsym(RTLD_NEXT, "dlsym", version));
  if (function == nullptr)
    function = from_c_library();
  else if (auto* const next = function(RTLD_NEXT, "dlsym"))
    function = reinterpret_cast<dlsym_function>(next);
  __atomic_store_n(&known, function, __ATOMIC_RELAXED);
  return function;
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Provides a stub for each CUPTI function, which jumps to the address that libgpuprof.so returns.
#pragma once

namespace gpuprof::guest {

/// The stub of a CUPTI function. Accessed with built-ins, because it is used before constructors
/// have run, also those of sanitizers. The assembly in stubs.cpp defines the layout.
struct cupti_stub {
  void* target;  // set by the first call; null: not known yet
  char const* name;
  void* code;   // the stub's code
  void* found;  // address that the program has found for this name in a library that it opened
};

/// Returns null if it is not a CUPTI function.
cupti_stub* stub_of(char const* name) noexcept;

/// Returns true if libgpuprof.so redirects calls of CUPTI.
bool calls_are_shared() noexcept;

}  // namespace gpuprof::guest

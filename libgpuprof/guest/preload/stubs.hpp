// SPDX-License-Identifier: Apache-2.0
// A function for each of CUPTI's, which jumps to where libgpuprof.so says that the call goes.
#pragma once

namespace gpuprof::guest {

/// One of CUPTI's functions. Written and read with built-ins: it is used before constructors, also
/// those of sanitizers, have run. The assembly in stubs.cpp lays it out.
struct cupti_stub {
  void* target;  // known since a call; null: ask
  char const* name;
  void* code;   // the function that jumps
  void* found;  // what the program has found under this name in a library that it opened
};

/// Null: none of CUPTI's.
cupti_stub* stub_of(char const* name) noexcept;

/// Calls of CUPTI are ours to direct.
bool calls_are_shared() noexcept;

}  // namespace gpuprof::guest

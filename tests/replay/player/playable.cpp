// SPDX-License-Identifier: Apache-2.0
#include "replay/player/playable.hpp"

#include "replay/format/record_fields.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace gpuprof::replay {
namespace {

template <class Function>
Function find(void* library, char const* name) {
  auto const function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    std::fprintf(stderr,
                 "the session cannot be played: the libcuda.so.1 that was found is not the fake "
                 "driver of this tree (no %s). "
                 "Put the folder replay-libs on LD_LIBRARY_PATH.\n",
                 name);
    std::exit(2);
  }
  return function;
}

}  // namespace

performance::driver start_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(
        stderr,
        "the session cannot be played: %s. Put the folder replay-libs on LD_LIBRARY_PATH.\n",
        dlerror());
    std::exit(2);
  }
  performance::driver d;
  d.tool = find<get_tool_function>(library, get_tool_name);
  d.busy_until = find<busy_until_function>(library, busy_until_name);
  d.capturing = find<capturing_function>(library, capturing_name);
  d.synchronize = find<int (*)()>(library, "cuCtxSynchronize");
  if (auto const code = find<int (*)(unsigned)>(library, "cuInit")(0); code != 0) {
    std::fprintf(
        stderr,
        "the session cannot be played: cuInit failed with %d: has the session device facts?\n",
        code);
    std::exit(2);
  }
  return d;
}

bool all_kinds_known(recording const& r) {
  std::size_t at = 0;
  for (auto const size : r.records.sizes) {
    auto const* const fields = fields_of(kind_of_record(r.records.bytes.data() + at));
    if (fields == nullptr || size < fields->size_12_0) return false;
    at += size;
  }
  return true;
}

}  // namespace gpuprof::replay

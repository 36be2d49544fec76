// SPDX-License-Identifier: Apache-2.0
// NVTX_DISABLE removes every marker at compile time; the program still compiles and runs.
#define NVTX_DISABLE
#include <gpuprof/gpuprof.hpp>

int main() {
  gpuprof::scoped_range const here("nothing", gpuprof::work{1, 2}, gpuprof::color::red);
  gpuprof::domain const d("nothing");
  gpuprof::range r(d, "nothing");
  r.end();
  gpuprof::mark("nothing");
  return gpuprof::detail::tool_is_present() ? 1 : gpuprof::in_range("nothing", [] { return 0; });
}

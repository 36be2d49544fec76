// SPDX-License-Identifier: Apache-2.0
// A shared object with an NVTX of its own, loaded late.
#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) void plugin_work() {
  nvtxRangePushA("in plugin");
  nvtxRangePop();
}

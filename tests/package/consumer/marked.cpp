// SPDX-License-Identifier: Apache-2.0
// The markers alone: no library to link, nothing happens without a tool.
#include <gpuprof/gpuprof.hpp>

int main() {
  gpuprof::scoped_range const range("work");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The C API, linked: without a GPU it says that it is inactive and does no harm. */
#include <gpuprof/gpuprof.h>

#include <stdio.h>

int main(void) {
  printf("%s\n", gpuprof_version());
  gpuprof_step();
  return gpuprof_is_capturing() == 0 ? 0 : 1;
}

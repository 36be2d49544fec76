/* SPDX-License-Identifier: Apache-2.0 */
/* A library with a clock, which its program closes. */
#include <stdint.h>

__attribute__((visibility("default"))) uint64_t clock_of_library(void) {
  static uint64_t ticks = 0;
  return ++ticks;
}

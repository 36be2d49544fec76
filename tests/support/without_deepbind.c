/* SPDX-License-Identifier: Apache-2.0 */
/* libcupti opens libnvperf_host with RTLD_DEEPBIND, at which sanitizers end the program: preloaded,
   this leaves the flag out. */
#define _GNU_SOURCE
#include <dlfcn.h>

__attribute__((visibility("default"))) void* dlopen(char const* file, int mode) {
  static void* (*next)(char const*, int);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "dlopen");
  return next(file, mode & ~RTLD_DEEPBIND);
}

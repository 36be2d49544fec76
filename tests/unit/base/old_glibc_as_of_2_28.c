// SPDX-License-Identifier: Apache-2.0
// base/old_glibc.c as it behaves where the C library has none of its functions, under names of its
// own: the test compares them with those of this machine.
#define _GNU_SOURCE
#include <gnu/libc-version.h>

#define gnu_get_libc_version() "2.28"
#define __libc_single_threaded tested_single_threaded
#define _dl_find_object tested_find_object
#define arc4random tested_arc4random
#define pthread_cond_clockwait tested_clockwait
// Their declarations come with the names of this file.
#include "base/old_glibc.c"

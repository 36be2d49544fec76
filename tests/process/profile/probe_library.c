/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libgpuprof.so: notes in the file PROBE_LOG which program it was loaded into and
 * what it was told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char** environ;

__attribute__((constructor)) static void note(void) {
  char const* const path = getenv("PROBE_LOG");
  if (path == NULL) return;
  FILE* const log = fopen(path, "a");
  if (log == NULL) return;
  for (char** entry = environ; *entry != NULL; ++entry) {
    if (strncmp(*entry, "GPUPROF_", 8) == 0 || strstr(*entry, "INJECTION64_PATH=") != NULL ||
        strncmp(*entry, "LD_PRELOAD=", 11) == 0 || strncmp(*entry, "ASAN_OPTIONS=", 13) == 0) {
      fprintf(log, "%s\n", *entry);
    }
  }
  fclose(log);
}

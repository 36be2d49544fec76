/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a table of a capture that there is not, and says why it cannot. */
#include <gpuprof/tables.h>

#include <stdio.h>

int main(void) {
  struct ArrowArrayStream stream;
  int const code = gpuprof_open_table("none.gpuprof", "kernel", &stream);
  if (code != 0) puts(stream.get_last_error(&stream));
  stream.release(&stream);
  return code == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this GPU really reaches, in plain C11: from the store when it was measured before, else
 * measured now. Build and run it:
 *
 *   cc -std=c11 -I<prefix>/include peaks.c -o peaks -L<prefix>/lib -lgpuprof
 *   LD_LIBRARY_PATH=<prefix>/lib ./peaks
 */
#define _POSIX_C_SOURCE 200112L  // setenv
#include <gpuprof/peaks.h>

#include <stdio.h>
#include <stdlib.h>

static double burst_of(gpuprof_peaks const* roof, gpuprof_peak_test test) {
  for (size_t i = 0; i < roof->peak_count; ++i) {
    if (roof->peaks[i]->test == test) return roof->peaks[i]->burst;
  }
  return 0;
}

static void print(gpuprof_peak const* peak) {
  if (peak->outcome != GPUPROF_OUTCOME_MEASURED) {
    printf("%-28s %s\n", peak->title, peak->remark);
    return;
  }
  printf("%-28s %10.4g %s", peak->title, peak->burst, gpuprof_unit_name(peak->unit));
  if (peak->theory > 0) printf(", %.0f %% of theory", 100 * peak->burst / peak->theory);
  printf("\n");
}

int main(void) {
  /* A capture would begin with CUDA, and nothing is measured inside one. */
  setenv("GPUPROF_CAPTURE_RANGE", "cudaProfilerApi", 0);
  gpuprof_peaks_options options = {
      .struct_size = sizeof options, .tests = "fp32,tensor_bf16,dram_read,dram_copy", .quick = 1};
  gpuprof_peaks const* roof = NULL;
  if (gpuprof_measure_peaks(&options, &roof) != GPUPROF_OK) {
    fprintf(stderr, "peaks: %s\n", gpuprof_last_message());
    return 77;
  }
  printf("%s, %s\n", roof->gpu, roof->origin);
  for (size_t i = 0; i < roof->peak_count; ++i) print(roof->peaks[i]);
  double const flops = burst_of(roof, GPUPROF_TEST_TENSOR_BF16),
               bytes = burst_of(roof, GPUPROF_TEST_DRAM_READ);
  if (flops > 0 && bytes > 0)
    printf("A BF16 kernel with fewer than %.0f FLOP for each byte waits for memory.\n",
           flops / bytes);
  gpuprof_release_peaks(roof);
  return 0;
}

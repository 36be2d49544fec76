/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C interface in plain C11: capture a part of the program, ask for the totals. Build and run
 * it:
 *
 *   cc -std=c11 -I<prefix>/include -I$CUDA_HOME/include plain_c.c -o plain_c \
 *      -L<prefix>/lib -lgpuprof -L$CUDA_HOME/lib64 -lcudart_static -ldl -lrt -lpthread -lm
 *   LD_LIBRARY_PATH=<prefix>/lib GPUPROF_OUTPUT=plain_c.gpuprof ./plain_c
 *
 * C has no kernels of its own, so one comes as PTX, which the driver compiles.
 */
#include <gpuprof/gpuprof.h>

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

static char const scale_ptx[] =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 size)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [data];\n"
    "  ld.param.f32 %f1, [factor];\n"
    "  ld.param.u32 %r2, [size];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r1, %r3, %r4, %r5;\n"
    "  setp.ge.s32 %p1, %r1, %r2;\n"
    "  @%p1 bra done;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mul.wide.s32 %rd3, %r1, 4;\n"
    "  add.s64 %rd4, %rd2, %rd3;\n"
    "  ld.global.f32 %f2, [%rd4];\n"
    "  mul.f32 %f3, %f2, %f1;\n"
    "  st.global.f32 [%rd4], %f3;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

static void check(cudaError_t code, char const* what) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "plain_c: %s: %s\n", what, cudaGetErrorString(code));
  exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 77 : 1);
}

static void print_totals(void) {
  gpuprof_totals const* totals = NULL;
  if (gpuprof_take_totals(&totals) != GPUPROF_OK) {
    printf("plain_c: no totals: %s\n", gpuprof_last_message());
    return;
  }
  for (size_t i = 0; i < totals->kernel_name_count; ++i) {
    printf("plain_c: %s ran %llu times, %.3f ms\n", totals->kernels[i]->name,
           (unsigned long long)totals->kernels[i]->launch_count,
           (double)totals->kernels[i]->total_ns / 1e6);
  }
  gpuprof_release_totals(totals);
}

int main(void) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "no GPU to work on");

  cudaLibrary_t library = NULL;
  cudaKernel_t scale = NULL;
  check(cudaLibraryLoadData(&library, scale_ptx, NULL, NULL, 0, NULL, NULL, 0), "load the kernel");
  check(cudaLibraryGetKernel(&scale, library, "scale"), "find the kernel");

  unsigned size = 1u << 20;
  float factor = 1.5f;
  void* data = NULL;
  check(cudaMalloc(&data, size * sizeof(float)), "cudaMalloc");
  void* arguments[] = {&data, &factor, &size};
  dim3 grid = {(size + 255) / 256, 1, 1}, block = {256, 1, 1};

  gpuprof_options options = {.struct_size = sizeof options};
  if (gpuprof_start(&options) != GPUPROF_OK)
    fprintf(stderr, "plain_c: not profiled: %s\n", gpuprof_last_message());
  check(cudaMemset(data, 0, size * sizeof(float)), "cudaMemset");
  for (int i = 0; i < 100; ++i) {
    check(cudaLaunchKernel((void const*)scale, grid, block, arguments, 0, NULL), "launch");
    gpuprof_step();
  }
  check(cudaDeviceSynchronize(), "the kernels");
  gpuprof_stop();

  print_totals();
  cudaFree(data);
  cudaLibraryUnload(library);
  return 0;
}

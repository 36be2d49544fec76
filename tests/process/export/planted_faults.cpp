// SPDX-License-Identifier: Apache-2.0
// Captures of programs with one planted fault each, and of their mended twins: what an analysis is
// to find. `gpuprof-made-captures FILE --fault NAME [--mended] [--launches]` writes one, and prints
// what is known of it as "name value" lines: window_ns (from the first step to the end),
// gpu_busy_ns (the union of all that ran in the window), steps, and what a fault adds of its own.
// What the mend is worth is the difference of the two window_ns, each without recording_ns, by
// which recording slows the program. Every program has 100 steps, in
// ranges "step".
// --launches: calls that do not block are recorded too, as with --trace cuda-api. --runtime-names:
// calls are recorded by the runtime's names; --both-names: the driver's inside of the runtime's.
//
//   sync_in_loop        20 kernels of 40 us a step; after each fifth a read of 4 bytes (.item())
//   and
//                       30 us of the CPU, as one who looks at the loss. Mended: the CPU alone.
//   item_in_loop        the same by an asynchronous copy to pageable memory and a wait for the
//                       stream; recording them takes 6 us.
//   needless_sync       the same with cuCtxSynchronize in the place of the read.
//   pageable_copies     8 MB a step from pageable memory at 17 GB/s, then 10 kernels of 60 us.
//                       Mended: pinned, 55 GB/s.
//   alloc_in_loop       a buffer is allocated (80 us) and freed (60 us, after a wait for the GPU)
//                       each step. Mended: once, before the loop.
//   held_allocations    the same; of ten steps one is held for 2 ms, while counters are set up.
//   tiny_kernels        500 kernels of 1.5 us a step, a launch takes 2.8. Mended: a graph of them.
//   waited_launches     the same with a wait behind each step; recording adds 1.5 us a launch.
//   late_module_load    cuModuleLoadData takes 30 ms in step 30 and in step 60, the GPU is idle.
//                       Mended: both before the window.
//   late_loader         modules of 30 ms in four steps of a loop that runs ahead of the GPU and
//                       waits each tenth step, outside of the ranges. Mended: before the loop.
//                       The window has both, loop_ns is the loop.
//   serialized_streams  a kernel of 100 us and 32 blocks on each of two streams, which a kernel of
//                       3 us on the legacy default stream between them keeps apart. Mended: it is
//                       on the first of the two.
//   copy_alone          16 MB a step, pinned, on the stream of the kernels (400 us). Mended: on
//                       another stream, one step ahead.
//   exposed_comm        an all-reduce of 300 us after 600 us of kernels. Mended: beside the last
//                       half of them, which takes 1.1 times as long there, as does the all-reduce.
//   uneven_steps        each seventh step has kernels of 180 us in the place of 100. Mended: none.
//   fp32_products       a product of 2048 in FP32 on CUDA cores (387 us) and three good ones of
//   4096
//                       in BF16 (180 us). Mended: TF32 (58 us). Names and times of an H100.
//   misaligned_products eight products of 2047 in BF16 (113 us) and the same three. Mended: of 2048
//                       (28 us), by the kernel of the others. Names and times of an H100.
//   waits               three planted waits a step: after a synchronize 200 us until the next
//   launch
//                       (idle_sync_ns), 300 us of the CPU in a range "load data", no call, after
//                       a queue that ran dry (idle_cpu_ns), 150 us on an event of another stream
//                       (idle_dependency_ns). The sums are what the GPU was idle, start-up of
//                       the launches included. It has no mended twin.
#include "made_program.hpp"

#include <cstdio>

namespace gpuprof {
namespace {

constexpr unsigned step_count = 100;
constexpr std::uint64_t us = 1'000, mib = 1 << 20;
constexpr std::uint32_t side = 13, other_side = 14;

/// Both twins start with what every program has: a module, one warm-up kernel, an idle GPU.
void warm_up(made_program& program, shape_id shape) {
  program.kernel(shape, 50 * us);
  program.synchronize();
  program.open_window();
}

enum class reading { blocking_copy, copy_and_wait, context_wide };

void read_loss(made_program& program, reading how) {
  if (how == reading::context_wide) return program.synchronize(0);
  if (how == reading::blocking_copy) return program.download(4);
  program.download_and_wait(4);
  program.recording(6 * us);
}

void reads_in_loop(made_program& program, bool mended, reading how) {
  auto const gemm = program.shape("_Z4gemmPf", 528);
  warm_up(program, gemm);
  program.steps(step_count, [&](unsigned) {
    program.begin("forward");
    for (int i = 1; i <= 20; ++i) {
      program.kernel(gemm, 40 * us);
      if (i % 5 != 0) continue;
      if (!mended) read_loss(program, how);
      program.work(30 * us);
    }
    program.end();
  });
  program.synchronize();
}
void sync_in_loop(made_program& program, bool mended) {
  reads_in_loop(program, mended, reading::blocking_copy);
}
void item_in_loop(made_program& program, bool mended) {
  reads_in_loop(program, mended, reading::copy_and_wait);
}
void needless_sync(made_program& program, bool mended) {
  reads_in_loop(program, mended, reading::context_wide);
}

void pageable_copies(made_program& program, bool mended) {
  auto const gemm = program.shape("_Z4gemmPf", 528);
  warm_up(program, gemm);
  program.steps(step_count, [&](unsigned) {
    program.begin("input");
    program.upload(8 * mib, mended ? memory_kind::pinned : memory_kind::pageable);
    program.end();
    for (int i = 0; i < 10; ++i) program.kernel(gemm, 60 * us);
  });
  program.synchronize();
}

void allocates(made_program& program, bool mended, bool is_held) {
  auto const gemm = program.shape("_Z4gemmPf", 528);
  warm_up(program, gemm);
  program.steps(step_count, [&](unsigned step) {
    auto const held = is_held && step % 10 == 5 ? 2'000 * us : 0;
    if (!mended) program.allocate(64 * mib, 80 * us, held);
    for (int i = 0; i < 10; ++i) program.kernel(gemm, 60 * us);
    if (!mended) program.release(64 * mib, 60 * us);
  });
  program.synchronize();
}
void alloc_in_loop(made_program& program, bool mended) {
  allocates(program, mended, false);
}
void held_allocations(made_program& program, bool mended) {
  allocates(program, mended, true);
}

void launches_of_tiny(made_program& program, bool mended, bool is_waited) {
  constexpr unsigned in_step = 500;
  char const* const names[] = {"_Z3addPf", "_Z3mulPf", "_Z4biasPf", "_Z4reluPf", "_Z5scalePf"};
  shape_id shapes[5]{};
  for (int i = 0; i < 5; ++i) shapes[i] = program.shape(names[i], 8);
  warm_up(program, shapes[0]);
  program.steps(step_count, [&](unsigned) {
    if (mended) program.graph(shapes[0], 1'500, in_step);
    for (unsigned i = 0; i < in_step && !mended; ++i) {
      if (is_waited) program.recording(1'500);
      program.kernel(shapes[i % 5], 1'500);
    }
    if (is_waited) program.synchronize();
  });
  program.synchronize();
}
void tiny_kernels(made_program& program, bool mended) {
  launches_of_tiny(program, mended, false);
}
void waited_launches(made_program& program, bool mended) {
  launches_of_tiny(program, mended, true);
}

void late_module_load(made_program& program, bool mended) {
  constexpr std::uint64_t load = 30'000 * us;
  auto const gemm = program.shape("_Z4gemmPf", 528);
  if (mended)
    for (int i = 0; i < 2; ++i) program.call("cuModuleLoadData", load);
  warm_up(program, gemm);
  program.steps(step_count, [&](unsigned step) {
    if (!mended && (step == 30 || step == 60)) program.call("cuModuleLoadData", load);
    for (int i = 0; i < 10; ++i) program.kernel(gemm, 60 * us);
    program.synchronize();
  });
}

void late_loader(made_program& program, bool mended) {
  constexpr std::uint64_t load = 30'000 * us;
  auto const gemm = program.shape("_Z4gemmPf", 528);
  program.open_window();
  program.upload(64 * mib, memory_kind::pinned);
  program.synchronize();
  for (int i = 0; i < 4 && mended; ++i) program.call("cuModuleLoadData", load);
  auto const begin = program.now();
  for (unsigned first = 0; first < step_count; first += 10) {
    program.steps(10, [&](unsigned step) {
      if (!mended && step == 0 && first % 20 == 10 && first > 20)
        program.call("cuModuleLoadData", load);
      for (int i = 0; i < 10; ++i) program.kernel(gemm, 60 * us);
    });
    program.synchronize();
  }
  program.known("loop_ns", program.now() - begin);
}

void serialized_streams(made_program& program, bool mended) {
  auto const half = program.shape("_Z4halfPf", 32), small = program.shape("_Z5smallPf", 1);
  warm_up(program, half);
  program.steps(step_count, [&](unsigned) {
    for (int i = 0; i < 5; ++i) {
      program.kernel(half, 100 * us, side);
      if (!mended) program.join_streams();
      program.kernel(small, 3 * us, mended ? side : 7);
      if (!mended) program.wait_for(other_side, 7);
      program.kernel(half, 100 * us, other_side);
      if (!mended) program.join_streams();
    }
  });
  program.synchronize(0);
}

void copy_alone(made_program& program, bool mended) {
  auto const gemm = program.shape("_Z4gemmPf", 528);
  warm_up(program, gemm);
  auto const copy_stream = mended ? side : 7;
  if (mended) program.upload(16 * mib, memory_kind::pinned, side);
  program.steps(step_count, [&](unsigned step) {
    if (mended) program.wait_for(7, side);
    if (!mended || step + 1 < step_count)
      program.upload(16 * mib, memory_kind::pinned, copy_stream);
    for (int i = 0; i < 10; ++i) program.kernel(gemm, 40 * us);
  });
  program.synchronize(0);
}

void exposed_comm(made_program& program, bool mended) {
  auto const gemm = program.shape("_Z4gemmPf", 528);
  auto const all_reduce = program.shape("_Z31ncclDevKernel_AllReduce_Sum_f32v", 16);
  warm_up(program, gemm);
  program.steps(step_count, [&](unsigned) {
    for (int i = 0; i < 10; ++i) {
      if (mended && i == 5) {
        program.wait_for(side, 7);
        program.kernel(all_reduce, 330 * us, side);
      }
      program.kernel(gemm, mended && i >= 5 ? 66 * us : 60 * us);
    }
    if (!mended) {
      program.wait_for(side, 7);
      program.kernel(all_reduce, 300 * us, side);
    }
    program.wait_for(7, side);
  });
  program.synchronize(0);
}

void uneven_steps(made_program& program, bool mended) {
  auto const gemm = program.shape("_Z4gemmPf", 528);
  warm_up(program, gemm);
  program.steps(step_count, [&](unsigned step) {
    auto const slow = !mended && step % 7 == 3;
    for (int i = 0; i < 10; ++i) program.kernel(gemm, slow ? 180 * us : 100 * us);
    program.synchronize();
  });
}

void waits(made_program& program, bool) {
  auto const gemm = program.shape("_Z4gemmPf", 528);
  std::uint64_t after_sync = 0, cpu = 0, dependency = 0;
  warm_up(program, gemm);
  program.steps(step_count, [&](unsigned) {
    for (int i = 0; i < 5; ++i) program.kernel(gemm, 60 * us);
    program.synchronize();
    program.work(200 * us);
    program.kernel(gemm, 100 * us);
    after_sync += program.idle_before();
    program.begin("load data");
    program.work(400 * us);  // 300 more than the kernel takes
    program.end();
    program.kernel(gemm, 100 * us);
    cpu += program.idle_before();
    program.kernel(gemm, 30 * us, side);
    program.wait_until(7, program.now() + 250 * us);
    program.kernel(gemm, 100 * us);
    dependency += program.idle_before();
  });
  program.synchronize(0);
  program.known("idle_sync_ns", after_sync);
  program.known("idle_cpu_ns", cpu);
  program.known("idle_dependency_ns", dependency);
}

constexpr auto good_product = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT";

void products(made_program& program, char const* name, unsigned count, std::uint64_t length) {
  auto const product = program.shape(name, 128), good = program.shape(good_product, 132);
  warm_up(program, good);
  program.steps(step_count, [&](unsigned) {
    for (unsigned i = 0; i < count; ++i) program.kernel(product, length);
    for (int i = 0; i < 3; ++i) program.kernel(good, 180 * us);
  });
  program.synchronize();
}
void fp32_products(made_program& program, bool mended) {
  if (mended) return products(program, "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n", 1, 58 * us);
  products(program, "cutlass_80_simt_sgemm_256x128_8x4_nn_align1", 1, 387 * us);
}
void misaligned_products(made_program& program, bool mended) {
  if (mended) return products(program, good_product, 8, 28 * us);
  products(program, "cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_nn_align1", 8, 113 * us);
}

struct fault {
  std::string_view name;
  void (*run)(made_program&, bool mended);
};
constexpr fault faults[] = {
    {"sync_in_loop", sync_in_loop},
    {"item_in_loop", item_in_loop},
    {"needless_sync", needless_sync},
    {"pageable_copies", pageable_copies},
    {"alloc_in_loop", alloc_in_loop},
    {"held_allocations", held_allocations},
    {"tiny_kernels", tiny_kernels},
    {"waited_launches", waited_launches},
    {"late_module_load", late_module_load},
    {"late_loader", late_loader},
    {"serialized_streams", serialized_streams},
    {"copy_alone", copy_alone},
    {"exposed_comm", exposed_comm},
    {"uneven_steps", uneven_steps},
    {"fp32_products", fp32_products},
    {"misaligned_products", misaligned_products},
    {"waits", waits},
};

}  // namespace

bool write_planted_fault(std::string const& path, std::string_view name, bool mended,
                         recorded_calls recorded) {
  for (auto const& known : faults) {
    if (known.name != name) continue;
    made_program program(path, recorded);
    known.run(program, mended);
    return true;
  }
  std::fprintf(stderr, "no fault is named %.*s; there are:", static_cast<int>(name.size()),
               name.data());
  for (auto const& known : faults)
    std::fprintf(stderr, " %.*s", static_cast<int>(known.name.size()), known.name.data());
  std::fprintf(stderr, "\n");
  return false;
}

}  // namespace gpuprof

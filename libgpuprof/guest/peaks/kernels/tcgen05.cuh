// SPDX-License-Identifier: Apache-2.0
// The tcgen05 instructions of sm_100a and sm_103a that the peak kernels use, as named functions.
//
// The caller must order them: tcgen05 operations are asynchronous. They may use shared memory
// written by threads only after fence_for_tensor_core and a barrier.
#pragma once

#include "guest/peaks/kernels/span.cuh"

namespace gpuprof::guest::peaks::tcgen05 {

constexpr std::uint32_t all_columns = 512;  // columns of tensor memory: 128 lanes of 32 bits each

enum class mma_kind { f16, tf32, f8f6f4, i8, mxf4nvf4 };

__device__ __forceinline__ std::uint32_t shared_address(void const* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

enum class swizzle : std::uint64_t { none = 0, bytes_128 = 2 };

/// For K-major matrices. PTX ISA, "Shared memory descriptor": bits 0-13 are start >> 4, bits 32-45
/// the distance between groups of 8 rows >> 4, bits 46-48 are 0b001, bits 61-63 the swizzle. The
/// leading dimension's offset (16-29) is not used for swizzled rows or rows of 16 bytes; the manual
/// assumes 1.
__device__ __forceinline__ std::uint64_t matrix_descriptor(std::uint32_t address,
                                                           std::uint64_t bytes_of_8_rows,
                                                           swizzle mode) {
  return (address & 0x3FFFF) >> 4 | 1ull << 16 | (bytes_of_8_rows >> 4) << 32 | 1ull << 46 |
         static_cast<std::uint64_t>(mode) << 61;
}

// --- order ---------------------------------------------------------------------------------------

/// PTX ISA: "The shared memory accesses by tcgen05.mma and tcgen05.cp operations are performed in
/// the asynchronous proxy". Each thread that wrote must call this before the barrier.
__device__ __forceinline__ void fence_for_tensor_core() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// A barrier for the block that also orders the tcgen05 operations before and after it.
__device__ __forceinline__ void synchronize() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// True for one lane of a warp. Called by the whole warp. If the lane is chosen in another way,
/// ptxas does not know that only one is active and puts a loop over lanes around each MMA.
__device__ __forceinline__ bool is_elected() {
  std::uint32_t elected;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "elect.sync _|p, 0xFFFFFFFF;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(elected));
  return elected != 0;
}

/// Initializes a barrier with one arrival per phase.
__device__ __forceinline__ void make_barrier(std::uint64_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives once at the barrier when all operations issued so far by this thread are done.
__device__ __forceinline__ void commit_to(std::uint32_t barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
      : "memory");
}

__device__ __forceinline__ bool has_passed(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t passed;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(passed)
      : "r"(barrier), "r"(parity)
      : "memory");
  return passed != 0;
}

/// Waits until a phase of this parity has ended. Before the first phase, parity 1 counts as ended.
/// Returns false after `patience` cycles.
__device__ __forceinline__ bool wait_for(std::uint32_t barrier, std::uint32_t parity,
                                         std::uint64_t patience) {
  if (has_passed(barrier, parity)) return true;
  auto const since = cycle_counter();
  while (!has_passed(barrier, parity)) {
    if (cycle_counter() - since > patience) return false;
  }
  return true;
}

// --- tensor memory -------------------------------------------------------------------------------

/// Allocates all columns and writes their address to shared memory. Called by one whole warp; one
/// warp must free them before the kernel ends. Waits while another block of the SM holds columns.
__device__ __forceinline__ void allocate_columns(std::uint32_t* address) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                   shared_address(address)),
               "n"(all_columns)
               : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void free_columns(std::uint32_t address) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
               "n"(all_columns)
               : "memory");
}

/// A warp can access 32 lanes, selected by its number in its group of four. The lane is in the
/// upper half of the address.
__device__ __forceinline__ std::uint32_t lanes_of_warp(std::uint32_t address) {
  return address + (threadIdx.x / 32 % 4 * 32 << 16);
}

/// Sets all columns to zero. Called by four whole warps.
__device__ __forceinline__ void clear_columns(std::uint32_t address) {
#pragma unroll 1
  for (std::uint32_t column = 0; column < all_columns; column += 8) {
    asm volatile(
        "tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"r"(
            lanes_of_warp(address) + column),
        "r"(0)
        : "memory");
  }
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/// Loads eight columns of this thread's lane. Called by four whole warps.
__device__ __forceinline__ void load_columns(std::uint32_t address, std::uint32_t (&words)[8]) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n\t"
      "tcgen05.wait::ld.sync.aligned;"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]), "=r"(words[4]),
        "=r"(words[5]), "=r"(words[6]), "=r"(words[7])
      : "r"(lanes_of_warp(address))
      : "memory");
}

/// Copies 32 rows of 16 bytes from shared memory to 4 columns of 32 lanes, four times, as scales
/// require. Later MMAs of the same thread wait for it automatically.
__device__ __forceinline__ void copy_scales(std::uint32_t to, std::uint32_t from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to),
               "l"(matrix_descriptor(from, 128, swizzle::none))
               : "memory");
}

// --- multiplication ------------------------------------------------------------------------------

#define GPUPROF_TCGEN05_MMA(kind)                                                               \
  asm volatile("tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, 1;" ::"r"(d), "l"(a), \
               "l"(b), "r"(instruction)                                                         \
               : "memory")

/// Computes D += A * B. Called by one thread; operations on one D run in the order of issue. The
/// scale addresses are used only for mxf4nvf4, which has one scale per 16 elements.
template <mma_kind Kind>
__device__ __forceinline__ void multiply(std::uint32_t d, std::uint64_t a, std::uint64_t b,
                                         std::uint32_t instruction, std::uint32_t scales_a,
                                         std::uint32_t scales_b) {
  if constexpr (Kind == mma_kind::f16) {
    GPUPROF_TCGEN05_MMA("f16");
  } else if constexpr (Kind == mma_kind::tf32) {
    GPUPROF_TCGEN05_MMA("tf32");
  } else if constexpr (Kind == mma_kind::f8f6f4) {
    GPUPROF_TCGEN05_MMA("f8f6f4");
  } else if constexpr (Kind == mma_kind::i8) {
    GPUPROF_TCGEN05_MMA("i8");
  } else {
    // block16 means scale_vec::4X, a name that only sm_100a accepts.
    asm volatile(
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 "
        "[%0], %1, %2, %3, [%4], [%5], 1;" ::"r"(d),
        "l"(a), "l"(b), "r"(instruction), "r"(scales_a), "r"(scales_b)
        : "memory");
  }
}

#undef GPUPROF_TCGEN05_MMA

}  // namespace gpuprof::guest::peaks::tcgen05

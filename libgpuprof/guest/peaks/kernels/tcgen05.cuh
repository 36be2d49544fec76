// SPDX-License-Identifier: Apache-2.0
// The tcgen05 instructions of sm_100a and sm_103a that the peak kernels use, by name.
//
// Whoever calls them orders them: tcgen05 operations are asynchronous, and shared memory that was
// written by threads is theirs only after fence_for_tensor_core and a barrier.
#pragma once

#include "guest/peaks/kernels/span.cuh"

namespace gpuprof::guest::peaks::tcgen05 {

constexpr std::uint32_t all_columns = 512;  // of tensor memory: 128 lanes of 32 bits each

enum class mma_kind { f16, tf32, f8f6f4, i8, mxf4nvf4 };

__device__ __forceinline__ std::uint32_t shared_address(void const* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

enum class swizzle : std::uint64_t { none = 0, bytes_128 = 2 };

/// K-major. PTX ISA, "Shared memory descriptor": start >> 4 in bits 0-13, bytes from 8 rows to the
/// next 8, >> 4, in 32-45, 0b001 in 46-48, swizzle in 61-63. The leading dimension's offset (16-29)
/// plays no part in a swizzled row nor in rows of 16 bytes; the manual assumes 1.
__device__ __forceinline__ std::uint64_t matrix_descriptor(std::uint32_t address,
                                                           std::uint64_t bytes_of_8_rows,
                                                           swizzle mode) {
  return (address & 0x3FFFF) >> 4 | 1ull << 16 | (bytes_of_8_rows >> 4) << 32 | 1ull << 46 |
         static_cast<std::uint64_t>(mode) << 61;
}

// --- order ---------------------------------------------------------------------------------------

/// "The shared memory accesses by tcgen05.mma and tcgen05.cp operations are performed in the
/// asynchronous proxy": by each thread that wrote, before the barrier.
__device__ __forceinline__ void fence_for_tensor_core() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// A barrier of the block that also orders tcgen05 operations before and after it.
__device__ __forceinline__ void synchronize() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// One lane of a whole warp. Of a lane chosen otherwise, ptxas does not see that it is alone, and
/// puts a loop over lanes around each MMA.
__device__ __forceinline__ bool is_elected() {
  std::uint32_t elected;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "elect.sync _|p, 0xFFFFFFFF;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(elected));
  return elected != 0;
}

/// A phase ends with one arrival.
__device__ __forceinline__ void make_barrier(std::uint64_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// One arrival when all that this thread has issued so far is done.
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

/// Until a phase of this parity has ended, which before the first holds for 1. False: `patience`
/// cycles went by.
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

/// Puts the address of all columns into shared memory. By one whole warp, and freed by one before
/// the kernel ends. Waits for as long as another block of the SM has columns.
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

/// A warp reaches 32 lanes, by its number in its group of four. Lanes are in the upper half of an
/// address.
__device__ __forceinline__ std::uint32_t lanes_of_warp(std::uint32_t address) {
  return address + (threadIdx.x / 32 % 4 * 32 << 16);
}

/// Zeros. By four whole warps.
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

/// Eight columns of this thread's lane. By four whole warps.
__device__ __forceinline__ void load_columns(std::uint32_t address, std::uint32_t (&words)[8]) {
  asm volatile(
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n\t"
      "tcgen05.wait::ld.sync.aligned;"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]), "=r"(words[4]),
        "=r"(words[5]), "=r"(words[6]), "=r"(words[7])
      : "r"(lanes_of_warp(address))
      : "memory");
}

/// 32 rows of 16 bytes of shared memory become 4 columns of 32 lanes, four times over as scales
/// have to be. Later MMAs of the same thread wait for it by themselves.
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

/// D += A * B, by one thread; in the order of issue for one D. The addresses of scales are for
/// mxf4nvf4, with one scale for 16 elements.
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
    // block16 is scale_vec::4X by the name that is not of sm_100a alone.
    asm volatile(
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 "
        "[%0], %1, %2, %3, [%4], [%5], 1;" ::"r"(d),
        "l"(a), "l"(b), "r"(instruction), "r"(scales_a), "r"(scales_b)
        : "memory");
  }
}

#undef GPUPROF_TCGEN05_MMA

}  // namespace gpuprof::guest::peaks::tcgen05

// SPDX-License-Identifier: Apache-2.0
// Peaks of the memories: DRAM, L2, L1 and shared memory.
//
// DRAM kernels are not persistent: blocks run in address order, each with one chunk of 32 KiB, in
// 16-byte accesses. This keeps all channels busy; a few long-lived blocks are up to 2 % slower. If
// reads and writes are mixed, stores are marked as streaming, which gains 5 to 8 % on an H200. Only
// the first and the last blocks record their times.
#include "guest/peaks/kernels/span.cuh"

#include "guest/peaks/kernels/operands.cuh"

namespace {

using namespace gpuprof::guest::peaks;

constexpr int threads = 512;
constexpr int in_flight = 4;                          // accesses per thread
constexpr std::uint32_t chunk = threads * in_flight;  // of 16 bytes each
constexpr int mixed_threads = 1024, mixed_in_flight = 2;
static_assert(mixed_threads * mixed_in_flight == chunk);

#define GPUPROF_LOAD(name, instruction)                             \
  __device__ __forceinline__ uint4 name(uint4 const* p) {           \
    uint4 v;                                                        \
    asm volatile(instruction ".v4.u32 {%0, %1, %2, %3}, [%4];"      \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)       \
                 : "l"(p));                                         \
    return v;                                                       \
  }
GPUPROF_LOAD(load_streaming, "ld.global.nc.L1::no_allocate")
GPUPROF_LOAD(load_l2, "ld.global.cg")
GPUPROF_LOAD(load_l1, "ld.global.ca")
#undef GPUPROF_LOAD

__device__ __forceinline__ void store_streaming(uint4* p, uint4 v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}

__device__ __forceinline__ std::uint32_t sum(uint4 v) {
  return v.x + v.y + v.z + v.w;
}

/// Returns a finite FP32 with a random mantissa. `place`: index of the word in the buffer.
__device__ __forceinline__ std::uint32_t random_float(kernel_arguments const& a,
                                                      std::uint64_t place) {
  if (a.zeros != 0) return 0;
  auto const h = scrambled(a.seed, static_cast<std::uint32_t>(place));
  return (h & 0x80FFFFFFu) + 0x3E800000u;
}

/// Returns what dram_write and l2_write store at the 16-byte unit `place`.
__device__ __forceinline__ uint4 written(kernel_arguments const& a, std::uint64_t place) {
  if (a.zeros != 0) return {};
  auto const h = static_cast<std::uint32_t>(place) * 0x9E3779B9u + a.seed;
  return {h, ~h, h ^ 0x5A5A5A5Au, h + 0x01234567u};
}

/// Blocks start in order, so the first start is among the first `timed` blocks and the last end
/// among the last `timed`. spans[0, timed) hold starts, spans[timed, 2 * timed) ends. `timed` is in
/// `a.iterations`.
struct edge_times {
  kernel_arguments const& a;
  __device__ void begin() const {
    if (blockIdx.x < a.iterations && threadIdx.x == 0) {
      auto& span = a.spans[blockIdx.x];
      span.start_time = nanosecond_timer();
      span.start_clock = cycle_counter();
      span.sm = sm_number();
    }
  }
  __device__ void end(bool has_stored) const {
    auto const from_end = gridDim.x - 1 - blockIdx.x;
    if (from_end >= a.iterations) return;
    if (has_stored) __threadfence();  // the stores have completed
    __syncthreads();
    if (threadIdx.x == 0) {
      auto& span = a.spans[a.iterations + from_end];
      span.end_clock = cycle_counter();
      span.end_time = nanosecond_timer();
      span.sm = sm_number();
    }
  }
};

__device__ __forceinline__ std::uint64_t place_of(int u) {
  return std::uint64_t{blockIdx.x} * chunk + u * blockDim.x + threadIdx.x;
}

}  // namespace

/// Fills a.output with random floats. Like all DRAM kernels, it needs a grid of bytes / 32 KiB
/// blocks.
extern "C" __global__ void __launch_bounds__(threads) memory_fill(kernel_arguments a) {
#pragma unroll
  for (int u = 0; u < in_flight; ++u) {
    auto const p = place_of(u);
    static_cast<uint4*>(a.output)[p] = {random_float(a, 4 * p), random_float(a, 4 * p + 1),
                                        random_float(a, 4 * p + 2), random_float(a, 4 * p + 3)};
  }
}

/// If a.check is set, adds all words that it read to the word at a.output.
extern "C" __global__ void __launch_bounds__(threads) dram_read(kernel_arguments a) {
  edge_times const times{a};
  times.begin();
  auto const* const input = static_cast<uint4 const*>(a.input);
  uint4 v[in_flight];
#pragma unroll
  for (int u = 0; u < in_flight; ++u) v[u] = load_streaming(input + place_of(u));
  std::uint32_t total = 0;
#pragma unroll
  for (int u = 0; u < in_flight; ++u) total += sum(v[u]);
  if (a.check != 0) atomicAdd(static_cast<std::uint32_t*>(a.output), total);
  times.end(false);
}

extern "C" __global__ void __launch_bounds__(threads) dram_write(kernel_arguments a) {
  edge_times const times{a};
  times.begin();
  auto* const output = static_cast<uint4*>(a.output);
#pragma unroll
  for (int u = 0; u < in_flight; ++u) output[place_of(u)] = written(a, place_of(u));
  times.end(true);
}

extern "C" __global__ void __launch_bounds__(mixed_threads) dram_copy(kernel_arguments a) {
  edge_times const times{a};
  times.begin();
  auto const* const input = static_cast<uint4 const*>(a.input);
  auto* const output = static_cast<uint4*>(a.output);
  uint4 v[mixed_in_flight];
#pragma unroll
  for (int u = 0; u < mixed_in_flight; ++u) v[u] = load_streaming(input + place_of(u));
#pragma unroll
  for (int u = 0; u < mixed_in_flight; ++u) store_streaming(output + place_of(u), v[u]);
  times.end(true);
}

/// a = b + s * c: b is at a.input, c is a.bytes / 3 behind it, s = 3.
extern "C" __global__ void __launch_bounds__(mixed_threads) dram_triad(kernel_arguments a) {
  edge_times const times{a};
  times.begin();
  auto const* const b = static_cast<uint4 const*>(a.input);
  auto const* const c = b + a.bytes / 3 / 16;
  auto* const output = static_cast<uint4*>(a.output);
  float const s = 3.0f + a.never;
  uint4 x[mixed_in_flight], y[mixed_in_flight];
#pragma unroll
  for (int u = 0; u < mixed_in_flight; ++u) {
    x[u] = load_streaming(b + place_of(u));
    y[u] = load_streaming(c + place_of(u));
  }
#pragma unroll
  for (int u = 0; u < mixed_in_flight; ++u) {
    auto const fused = [&](std::uint32_t p, std::uint32_t q) {
      return __float_as_uint(__fmaf_rn(s, __uint_as_float(q), __uint_as_float(p)));
    };
    store_streaming(output + place_of(u), {fused(x[u].x, y[u].x), fused(x[u].y, y[u].y),
                                           fused(x[u].z, y[u].z), fused(x[u].w, y[u].w)});
  }
  times.end(true);
}

namespace {

constexpr int l2_in_flight = 4;
constexpr std::uint32_t l2_chunk = threads * l2_in_flight;  // of 16 bytes each

/// The chunks of a block: every gridDim.x-th chunk of the footprint. No two blocks read the same
/// chunk: if SMs request the same lines at about the same time, an H200 merges the requests, and
/// its L2 would seem up to 2.8 times as fast as it is.
struct own_chunks {
  std::uint32_t chunks, at = blockIdx.x;
  __device__ explicit own_chunks(kernel_arguments const& a)
      : chunks(static_cast<std::uint32_t>(a.bytes / (l2_chunk * 16))) {}
  __device__ __forceinline__ void advance() {
    at += gridDim.x;
    if (at >= chunks) at = blockIdx.x;
  }
};

}  // namespace

/// Every block reads its own 32 KiB chunks of the a.bytes repeatedly, a.iterations chunks in all.
/// Each block has a whole number of chunks.
extern "C" __global__ void __launch_bounds__(threads, 2) l2_read(kernel_arguments a) {
  auto const* const input = static_cast<uint4 const*>(a.input);
  own_chunks own(a);
  std::uint32_t total = 0;
  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
    uint4 v[l2_in_flight];
#pragma unroll
    for (int u = 0; u < l2_in_flight; ++u)
      v[u] = load_l2(input + own.at * l2_chunk + u * threads + threadIdx.x);
#pragma unroll
    for (int u = 0; u < l2_in_flight; ++u) total += sum(v[u]);
    own.advance();
  }
  span.end(a, total);
}

extern "C" __global__ void __launch_bounds__(threads, 2) l2_write(kernel_arguments a) {
  auto* const output = static_cast<uint4*>(a.output);
  own_chunks own(a);
  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int u = 0; u < l2_in_flight; ++u) {
      auto const place = own.at * l2_chunk + u * threads + threadIdx.x;
      auto const v = written(a, place);
      asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(output + place), "r"(v.x),
                   "r"(v.y), "r"(v.z), "r"(v.w)
                   : "memory");
    }
    own.advance();
  }
  __threadfence();
  span.end(a, 0);
}

namespace {

// Loads from L1 and shared memory use four places with a stride that is known only at run time: the
// compiler would merge loads from equal addresses. 28 KiB in all.
constexpr int local_threads = 256;
constexpr int local_rounds = 4, local_loads = 4;  // per iteration: 16 accesses of 16 bytes a thread
constexpr std::uint32_t local_step = local_threads * 16;
constexpr std::uint32_t local_wrap = 4 * local_step - 1;
constexpr int local_words = 7 * local_threads * 4;

}  // namespace

/// Every block reads the same 28 KiB at a.input, so that the L1 of each SM holds them.
extern "C" __global__ void __launch_bounds__(local_threads) l1_read(kernel_arguments a) {
  auto const* const input = static_cast<char const*>(a.input) + threadIdx.x * 16;
  auto const step = local_step + a.never;
  std::uint32_t at = 0, total = 0;
  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int r = 0; r < local_rounds; ++r) {
#pragma unroll
      for (int l = 0; l < local_loads; ++l) {
        total += sum(load_l1(reinterpret_cast<uint4 const*>(input + at + l * local_step)));
      }
      at = (at + step) & local_wrap;
    }
  }
  span.end(a, total);
}

/// Reads random floats that it has written to shared memory.
extern "C" __global__ void __launch_bounds__(local_threads) shared_read(kernel_arguments a) {
  __shared__ alignas(16) std::uint32_t memory[local_words];
  for (std::uint32_t i = threadIdx.x; i < local_words; i += local_threads)
    memory[i] = random_float(a, i);
  auto const first =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) + threadIdx.x * 16;
  auto const step = local_step + a.never;
  std::uint32_t at = 0, total = 0;
  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int r = 0; r < local_rounds; ++r) {
#pragma unroll
      for (int l = 0; l < local_loads; ++l) {
        uint4 v;
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                     : "r"(first + at + l * local_step));
        total += sum(v);
      }
      at = (at + step) & local_wrap;
    }
  }
  span.end(a, total);
}

/// Writes a value that changes in every round, and returns the last values written.
extern "C" __global__ void __launch_bounds__(local_threads) shared_write(kernel_arguments a) {
  __shared__ uint4 memory[local_words / 4];
  auto const first =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) + threadIdx.x * 16;
  auto h = a.zeros != 0 ? 0 : scrambled(a.seed, threadIdx.x);
  auto const change = a.zeros != 0 ? 0 : 0x9E3779B9u;
  auto const step = local_step + a.never;
  std::uint32_t at = 0;
  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int r = 0; r < local_rounds; ++r) {
      h += change;
#pragma unroll
      for (int l = 0; l < local_loads; ++l) {
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(first + at + l * local_step),
                     "r"(h), "r"(~h), "r"(h), "r"(~h)
                     : "memory");
      }
      at = (at + step) & local_wrap;
    }
  }
  auto const v = memory[threadIdx.x];
  span.end(a, v.x + 3 * v.y + 5 * v.z + 7 * v.w);
}

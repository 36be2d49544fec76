// SPDX-License-Identifier: Apache-2.0
// Peaks of the CUDA cores: chains of dependent multiply-adds, eight per thread, all in registers.
//
// x = x * m + b with m just above -1 alternates between two distant values, so about as many bits
// flip as with random data, and x neither grows nor converges. Multiplier and addend are passed at
// run time, so that the compiler cannot fold them. The asm is volatile: nothing is dropped or moved
// out.
#include "guest/peaks/kernels/operands.cuh"
#include "guest/peaks/kernels/span.cuh"

namespace {

using namespace gpuprof::guest::peaks;

constexpr int chains = 8;
constexpr int threads = 256;

struct fp32_fma {
  using value = float;
  static constexpr int rounds = 128;  // rounds of all chains in one iteration
  static __device__ value start(kernel_arguments const& a, std::uint32_t i) {
    return __uint_as_float(operand_word(operand_format::bf16, a.seed, i));
  }
  static __device__ value factor(kernel_arguments const& a) {
    return __uint_as_float(0xBF7FFFFFu + a.never);
  }
  static __device__ void step(value& x, value m, value b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(m), "f"(b));
  }
  static __device__ std::uint32_t bits(value x) { return __float_as_uint(x); }
};

struct fp64_fma {
  using value = double;
  static constexpr int rounds = 32;
  static __device__ value start(kernel_arguments const& a, std::uint32_t i) {
    return __longlong_as_double(static_cast<long long>(operand_f64(a.seed, i)));
  }
  static __device__ value factor(kernel_arguments const& a) {
    return __longlong_as_double(static_cast<long long>(0xBFEFFFFFFFFFFFFFull + a.never));
  }
  static __device__ void step(value& x, value m, value b) {
    asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(m), "d"(b));
  }
  static __device__ std::uint32_t bits(value x) {
    auto const all = static_cast<std::uint64_t>(__double_as_longlong(x));
    return static_cast<std::uint32_t>(all ^ all >> 32);
  }
};

/// Two 16-bit numbers in one register.
template <operand_format Format, std::uint32_t Factor>
struct packed_fma {
  using value = std::uint32_t;
  static constexpr int rounds = 64;
  static __device__ value start(kernel_arguments const& a, std::uint32_t i) {
    return operand_word(Format, a.seed, i);
  }
  static __device__ value factor(kernel_arguments const& a) { return Factor + a.never; }
  static __device__ std::uint32_t bits(value x) { return x; }
};

struct fp16_fma : packed_fma<operand_format::f16, 0xBBFFBBFFu> {
  static __device__ void step(value& x, value m, value b) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(m), "r"(b));
  }
};

struct int32_mad {
  using value = std::uint32_t;
  static constexpr int rounds = 64;
  static __device__ value start(kernel_arguments const& a, std::uint32_t i) {
    return operand_word(operand_format::s8, a.seed, i);
  }
  static __device__ value factor(kernel_arguments const& a) { return 0x915F77F5u + a.never; }
  static __device__ void step(value& x, value m, value b) {
    asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(m), "r"(b));
  }
  static __device__ std::uint32_t bits(value x) { return x; }
};

/// x = 2^-x converges to 0.6412. The speed of the special function unit does not depend on the
/// value.
struct special_ex2 {
  using value = float;
  static constexpr int rounds = 32;
  static __device__ value start(kernel_arguments const& a, std::uint32_t i) {
    return __uint_as_float(operand_word(operand_format::tf32, a.seed, i));
  }
  static __device__ value factor(kernel_arguments const&) { return 0; }
  static __device__ void step(value& x, value, value) {
    asm volatile("{ .reg .f32 t; neg.ftz.f32 t, %0; ex2.approx.ftz.f32 %0, t; }" : "+f"(x));
  }
  static __device__ std::uint32_t bits(value x) { return __float_as_uint(x); }
};

/// Start values depend only on lane and chain, so all warps compute the same. Index 256 is the
/// addend.
template <class Op>
__device__ __forceinline__ void run_chains(kernel_arguments const& a) {
  using value = typename Op::value;
  auto const lane = threadIdx.x % 32;
  auto const m = a.zeros != 0 ? value{} : Op::factor(a);
  auto const b = a.zeros != 0 ? value{} : Op::start(a, 32 * chains);
  value x[chains];
#pragma unroll
  for (int c = 0; c < chains; ++c) x[c] = a.zeros != 0 ? value{} : Op::start(a, lane * chains + c);

  span_of_block span;
  span.begin();
#pragma unroll 1
  for (std::uint64_t i = 0; i < a.iterations; ++i) {
#pragma unroll
    for (int r = 0; r < Op::rounds; ++r) {
#pragma unroll
      for (int c = 0; c < chains; ++c) Op::step(x[c], m, b);
    }
  }
  std::uint32_t fold = 0;
#pragma unroll
  for (int c = 0; c < chains; ++c) fold += Op::bits(x[c]);
  span.end(a, fold);

  if (a.check != 0 && blockIdx.x == 0 && threadIdx.x < 32) {
#pragma unroll
    for (int c = 0; c < chains; ++c) static_cast<value*>(a.output)[lane * chains + c] = x[c];
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads) cores_fp32(kernel_arguments a) {
  run_chains<fp32_fma>(a);
}

extern "C" __global__ void __launch_bounds__(threads) cores_fp64(kernel_arguments a) {
  run_chains<fp64_fma>(a);
}

extern "C" __global__ void __launch_bounds__(threads) cores_fp16(kernel_arguments a) {
  run_chains<fp16_fma>(a);
}

extern "C" __global__ void __launch_bounds__(threads) cores_int32(kernel_arguments a) {
  run_chains<int32_mad>(a);
}

extern "C" __global__ void __launch_bounds__(threads) cores_special(kernel_arguments a) {
  run_chains<special_ex2>(a);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
namespace {
struct bf16_fma : packed_fma<operand_format::bf16, 0xBF7FBF7Fu> {
  static __device__ void step(value& x, value m, value b) {
    asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(m), "r"(b));
  }
};
}  // namespace

extern "C" __global__ void __launch_bounds__(threads) cores_bf16(kernel_arguments a) {
  run_chains<bf16_fma>(a);
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
namespace {
/// Two FP32 operations in one instruction: half the issue slots for the same work.
struct fp32_pair_fma {
  using value = std::uint64_t;
  static constexpr int rounds = 64;
  static __device__ value pair(std::uint32_t x, std::uint32_t y) {
    return std::uint64_t{x} << 32 | y;
  }
  static __device__ value start(kernel_arguments const& a, std::uint32_t i) {
    auto const x = operand_word(operand_format::bf16, a.seed, i);
    return pair(x, x);
  }
  static __device__ value factor(kernel_arguments const& a) {
    return pair(0xBF7FFFFFu + a.never, 0xBF7FFFFFu + a.never);
  }
  static __device__ void step(value& x, value m, value b) {
    asm volatile("fma.rn.f32x2 %0, %0, %1, %2;" : "+l"(x) : "l"(m), "l"(b));
  }
  static __device__ std::uint32_t bits(value x) { return static_cast<std::uint32_t>(x ^ x >> 32); }
};
}  // namespace

extern "C" __global__ void __launch_bounds__(threads) cores_fp32_pairs(kernel_arguments a) {
  run_chains<fp32_pair_fma>(a);
}
#endif

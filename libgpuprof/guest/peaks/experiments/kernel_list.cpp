// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/experiments/kernel_list.hpp"

#include <array>

namespace gpuprof::guest::peaks {
namespace {

constexpr unsigned chains = 8;  // chains of a thread in cuda_cores.cu

compute_kernel cores(test_id test, std::string_view name, std::string_view method, chain_kind kind,
                     unsigned rounds, double work_per_step, bool or_next = false) {
  return {test,
          "cuda_cores",
          name,
          method,
          256,
          0,
          work_per_step * 256 * chains * rounds,
          chain_check{kind, rounds},
          or_next};
}

/// Each of eight warps has four chains of accumulators, with eight rounds in an iteration.
compute_kernel mma(test_id test, std::string_view image, std::string_view name,
                   std::string_view method, tensor_geometry g, unsigned k, bool or_next = false) {
  g.chains = 4;
  return {test,
          image,
          name,
          method,
          256,
          0,
          2.0 * g.rows * g.columns * k * 4 * 8 * 8,
          tensor_check{g, 8},
          or_next};
}

tensor_geometry fragments(accumulator_type accumulator, operand_format format, unsigned rows = 16,
                          unsigned words = 8) {
  tensor_geometry g;
  g.accumulator = accumulator;
  g.format = format;
  g.rows = rows;
  g.words_per_step = words;
  return g;
}

/// Two warpgroups with 16 multiplications each per iteration.
compute_kernel wgmma(test_id test, std::string_view name, std::string_view method,
                     accumulator_type accumulator, operand_format format, unsigned k) {
  tensor_geometry g{.layout = accumulator_layout::warpgroup,
                    .accumulator = accumulator,
                    .format = format,
                    .rows = 64,
                    .columns = 256,
                    .stages = 4,
                    .steps = 4,
                    .subtracts_odd_steps = format != operand_format::s8};
  return {test,
          "tensor_wgmma",
          name,
          method,
          256,
          192 * 1024 + 1024,
          2.0 * 64 * 256 * k * 16 * 2,
          tensor_check{g, 1},
          false};
}

compute_kernel tcgen05(test_id test, std::string_view name, std::string_view method,
                       accumulator_type accumulator, operand_format format, unsigned k) {
  bool const scaled = format == operand_format::e2m1;
  tensor_geometry g{.layout = accumulator_layout::rows,
                    .accumulator = accumulator,
                    .format = format,
                    .rows = 128,
                    .columns = 256,
                    .stages = 4,
                    .steps = 4,
                    .subtracts_odd_steps = format != operand_format::s8 && !scaled,
                    .block_scaled = scaled};
  return {test,
          "tensor_tcgen05",
          name,
          method,
          128,
          192 * 1024 + 1024,
          2.0 * 128 * 256 * k * 16,
          tensor_check{g, 1},
          false};
}

tensor_geometry block_scaled(tensor_geometry g) {
  g.block_scaled = true;
  return g;
}

auto const& kernels() {
  using enum accumulator_type;
  using format = operand_format;
  using enum test_id;
  constexpr auto small = "tensor_mma", scaled = "tensor_mma_block_scale";
  static std::array const all{
      cores(fp64, "cores_fp64", "fma.rn.f64", chain_kind::fp64, 32, 2),
      cores(fp32, "cores_fp32", "fma.rn.f32", chain_kind::fp32, 128, 2, true),
      cores(fp32, "cores_fp32_pairs", "fma.rn.f32x2", chain_kind::fp32_pairs, 64, 4),
      cores(fp16, "cores_fp16", "fma.rn.f16x2", chain_kind::fp16, 64, 4),
      cores(bf16, "cores_bf16", "fma.rn.bf16x2", chain_kind::bf16, 64, 4),
      cores(int32, "cores_int32", "mad.lo.u32", chain_kind::int32, 64, 2),
      cores(special, "cores_special", "ex2.approx.f32", chain_kind::special, 32, 1),

      mma(tensor_fp64, small, "mma_fp64_large", "mma.sync m16n8k16",
          fragments(f64, format::f16, 16, 16), 16, true),
      mma(tensor_fp64, small, "mma_fp64", "mma.sync m8n8k4", fragments(f64, format::f16, 8, 4), 4),

      wgmma(tensor_tf32, "wgmma_tf32", "wgmma m64n256k8", f32, format::tf32, 8),
      tcgen05(tensor_tf32, "tcgen05_tf32", "tcgen05.mma m128n256k8", f32, format::tf32, 8),
      mma(tensor_tf32, small, "mma_tf32", "mma.sync m16n8k8", fragments(f32, format::tf32), 8),

      wgmma(tensor_fp16, "wgmma_fp16", "wgmma m64n256k16", f32, format::f16, 16),
      tcgen05(tensor_fp16, "tcgen05_fp16", "tcgen05.mma m128n256k16", f32, format::f16, 16),
      mma(tensor_fp16, small, "mma_fp16", "mma.sync m16n8k16", fragments(f32, format::f16), 16),
      mma(tensor_fp16, small, "mma_turing_fp16", "mma.sync m16n8k8",
          fragments(f32, format::f16, 16, 4), 8),

      wgmma(tensor_fp16_acc16, "wgmma_fp16_acc16", "wgmma m64n256k16", f16, format::f16, 16),
      tcgen05(tensor_fp16_acc16, "tcgen05_fp16_acc16", "tcgen05.mma m128n256k16", f16, format::f16,
              16),
      mma(tensor_fp16_acc16, small, "mma_fp16_acc16", "mma.sync m16n8k16",
          fragments(f16, format::f16), 16),
      mma(tensor_fp16_acc16, small, "mma_turing_fp16_acc16", "mma.sync m16n8k8",
          fragments(f16, format::f16, 16, 4), 8),

      wgmma(tensor_bf16, "wgmma_bf16", "wgmma m64n256k16", f32, format::bf16, 16),
      tcgen05(tensor_bf16, "tcgen05_bf16", "tcgen05.mma m128n256k16", f32, format::bf16, 16),
      mma(tensor_bf16, small, "mma_bf16", "mma.sync m16n8k16", fragments(f32, format::bf16), 16),

      wgmma(tensor_fp8, "wgmma_fp8", "wgmma m64n256k32", f32, format::e4m3, 32),
      tcgen05(tensor_fp8, "tcgen05_fp8", "tcgen05.mma m128n256k32", f32, format::e4m3, 32),
      mma(tensor_fp8, scaled, "mma120_fp8", "mma.sync m16n8k32", fragments(f32, format::e4m3), 32),
      mma(tensor_fp8, small, "mma_fp8", "mma.sync m16n8k32", fragments(f32, format::e4m3), 32),

      wgmma(tensor_int8, "wgmma_int8", "wgmma m64n256k32", s32, format::s8, 32),
      tcgen05(tensor_int8, "tcgen05_int8", "tcgen05.mma m128n256k32", s32, format::s8, 32),
      mma(tensor_int8, small, "mma_int8", "mma.sync m16n8k32", fragments(s32, format::s8), 32),
      mma(tensor_int8, small, "mma_turing_int8", "mma.sync m8n8k16",
          fragments(s32, format::s8, 8, 4), 16),

      tcgen05(tensor_fp6, "tcgen05_fp6", "tcgen05.mma m128n256k32", f32, format::e3m2, 32),
      mma(tensor_fp6, scaled, "mma120_fp6", "mma.sync m16n8k32", fragments(f32, format::e3m2), 32),

      tcgen05(tensor_fp4, "tcgen05_fp4", "tcgen05.mma m128n256k64", f32, format::e2m1, 64),
      mma(tensor_fp4, scaled, "mma120_fp4", "mma.sync m16n8k64",
          block_scaled(fragments(f32, format::e2m1)), 64),
  };
  return all;
}

}  // namespace

std::span<compute_kernel const> compute_kernels() {
  return kernels();
}

}  // namespace gpuprof::guest::peaks

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/kernel_codes.hpp"

#include <array>

namespace gpuprof {
namespace {

struct class_of_precision {
  instruction_class what{};
  precision of{};
};
constexpr auto classes = [] {
  using enum instruction_class;
  return std::to_array<class_of_precision>({
      {fp64, precision::fp64},
      {fp32, precision::fp32},
      {fp16, precision::fp16},
      {mma_fp16, precision::tensor_fp16},
      {mma_bf16, precision::tensor_bf16},
      {mma_tf32, precision::tensor_tf32},
      {mma_fp64_m8n8k4, precision::tensor_fp64},
      {mma_fp64, precision::tensor_fp64},
      {mma_fp8, precision::tensor_fp8},
      {mma_fp6, precision::tensor_fp6},
      {mma_fp4, precision::tensor_fp4},
      {mma_int8, precision::tensor_int8},
      {mma_int4, precision::tensor_int8},  // what counts it is not known
      {mma_bit, precision::tensor_int8},
      {mma_fp16_short, precision::tensor_fp16},
      {mma_bf16_short, precision::tensor_bf16},
      {mma_tf32_short, precision::tensor_tf32},
      {mma_int8_short, precision::tensor_int8},
      {wgmma_fp16, precision::tensor_fp16},
      {wgmma_bf16, precision::tensor_bf16},
      {wgmma_tf32, precision::tensor_tf32},
      {wgmma_fp8, precision::tensor_fp8},
      {wgmma_int8, precision::tensor_int8},
      {wgmma_bit, precision::tensor_int8},
      {tcgen05_fp16_bf16_tf32, precision::tensor_fp16},
      {tcgen05_fp16_bf16_tf32, precision::tensor_bf16},
      {tcgen05_fp16_bf16_tf32, precision::tensor_tf32},
      {tcgen05_fp8_fp6_fp4, precision::tensor_fp8},
      {tcgen05_fp8_fp6_fp4, precision::tensor_fp6},
      {tcgen05_fp8_fp6_fp4, precision::tensor_fp4},
      // Chips that have one counter for both count these as FP8.
      {tcgen05_fp4, precision::tensor_fp8},
      {tcgen05_fp4, precision::tensor_fp6},
      {tcgen05_fp4, precision::tensor_fp4},
      {tcgen05_int8, precision::tensor_int8},
  });
}();

// Operations over sm__pipe_tensor_cycles_active.avg, each of an SM, on an H200: of cuBLAS products,
// whatever the columns of their wgmma (8 to 256), and of kernels of nothing but one mma.sync. A
// deep one has two cycles for what wgmma does in a cycle and a third, a short one of 16 bits for
// half.
struct measured_rate {
  std::string_view chip;
  instruction_class what{};
  double operations = 0;
  std::string_view peak_test;
};
constexpr auto rates = [] {
  using enum instruction_class;
  return std::to_array<measured_rate>({
      {"GH100", wgmma_fp16, 1024, "tensor_fp16"},
      {"GH100", wgmma_bf16, 1024, "tensor_bf16"},
      {"GH100", wgmma_tf32, 512, "tensor_tf32"},
      {"GH100", wgmma_fp8, 2048, "tensor_fp8"},
      {"GH100", wgmma_int8, 2048, "tensor_int8"},
      {"GH100", mma_fp64, 64, "tensor_fp64"},
      {"GH100", mma_fp64_m8n8k4, 32, "tensor_fp64"},
      {"GH100", mma_fp16, 2048.0 / 3, "tensor_fp16"},
      {"GH100", mma_bf16, 2048.0 / 3, "tensor_bf16"},
      {"GH100", mma_tf32, 1024.0 / 3, "tensor_tf32"},
      {"GH100", mma_int8, 4096.0 / 3, "tensor_int8"},
      {"GH100", mma_bf16_short, 512, "tensor_bf16"},
      {"GH100", mma_fp16_short, 512, "tensor_fp16"},
  });
}();

}  // namespace

bool has_none_of(kernel_code const* code, precision p) noexcept {
  if (code == nullptr || !code->is_complete) return false;
  // FP8 on the CUDA cores of GB10x: not looked at.
  if (p == precision::fp8) return code->sm < 100;
  for (auto const& one : classes)
    if (one.of == p && code->holds.has(one.what)) return false;
  return true;
}

std::set<shape_id> without_tensor_code(std::span<kernel_shape const> shapes,
                                       kernel_codes const& codes) {
  std::set<shape_id> without;
  for (auto const& shape : shapes) {
    auto const* const code = codes.find(shape.name);
    if (code != nullptr && code->is_complete && code->holds.tensor() == instruction_set())
      without.insert(shape.id);
  }
  return without;
}

std::optional<tensor_rate> rate_by_code(kernel_code const* code, chip_size const& gpu) noexcept {
  if (code == nullptr || !code->is_complete || gpu.sm_count == 0) return std::nullopt;
  // What a cycle of these computes was not measured.
  if (code->holds.has(instruction_class::sparse_tensor)) return std::nullopt;
  for (auto const& rate : rates) {
    if (rate.chip != gpu.chip || code->holds.tensor() != instruction_set(rate.what)) continue;
    for (auto const& one : classes)
      if (one.what == rate.what)
        return tensor_rate{one.of, rate.operations * gpu.sm_count, rate.peak_test, 0};
  }
  return std::nullopt;
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/kernel_codes.hpp"

#include <array>

namespace gpuprof::host {
namespace {

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
    for (auto const& one : classes_of_precisions())
      if (one.what == rate.what)
        return tensor_rate{one.of, rate.operations * gpu.sm_count, rate.peak_test, 0};
  }
  return std::nullopt;
}

}  // namespace gpuprof::host

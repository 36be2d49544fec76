// SPDX-License-Identifier: Apache-2.0
#include "model/precisions.hpp"

#include <array>

namespace gpuprof {
namespace {

struct precision_text {
  std::string_view name, key;
};
constexpr std::array<precision_text, precision_count> precision_texts = {
    {{"FP64", "fp64"},
     {"FP32", "fp32"},
     {"FP16", "fp16"},
     {"FP8", "fp8"},
     {"tensor FP64", "tensor_fp64"},
     {"tensor TF32", "tensor_tf32"},
     {"tensor FP16", "tensor_fp16"},
     {"tensor BF16", "tensor_bf16"},
     {"tensor FP8", "tensor_fp8"},
     {"tensor FP6", "tensor_fp6"},
     {"tensor FP4", "tensor_fp4"},
     {"tensor INT8", "tensor_int8"}}};

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
      {mma_int4, precision::tensor_int8},  // it is not known which counter counts it
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
      // Chips with one counter for both types count these as FP8.
      {tcgen05_fp4, precision::tensor_fp8},
      {tcgen05_fp4, precision::tensor_fp6},
      {tcgen05_fp4, precision::tensor_fp4},
      {tcgen05_int8, precision::tensor_int8},
  });
}();

}  // namespace

std::string_view name_of(precision p) noexcept {
  return precision_texts[static_cast<std::size_t>(p)].name;
}
std::string_view key_of(precision p) noexcept {
  return precision_texts[static_cast<std::size_t>(p)].key;
}

std::span<class_of_precision const> classes_of_precisions() noexcept {
  return classes;
}

bool has_none_of(kernel_code const* code, precision p) noexcept {
  if (code == nullptr || !code->is_complete) return false;
  // FP8 on the CUDA cores of GB10x is not analyzed.
  if (p == precision::fp8) return code->sm < 100;
  for (auto const& one : classes)
    if (one.of == p && code->holds.has(one.what)) return false;
  return true;
}

bound_by roof_of(std::size_t index) noexcept {
  if (index == dram_roof) return {bound_by::kind::dram, {}};
  if (index == l2_roof) return {bound_by::kind::l2, {}};
  return {bound_by::kind::compute, static_cast<precision>(index - compute_roofs)};
}

std::string_view name_of(bound_by const& bound) noexcept {
  switch (bound.what) {
    case bound_by::kind::dram:
      return "DRAM";
    case bound_by::kind::l2:
      return "L2";
    case bound_by::kind::compute:
      return name_of(bound.of);
    case bound_by::kind::latency:
      return "latency";
    case bound_by::kind::unknown:
      break;
  }
  return "";
}

std::optional<nearest_roof> highest_share(roof_shares const& shares, bool every_roof,
                                          std::optional<double> tensor_active) noexcept {
  auto const is_l2_far = shares[l2_roof] && tensor_active.value_or(0) > *shares[l2_roof];
  std::optional<nearest_roof> highest;
  for (std::size_t i = 0; i < roof_count; ++i)
    if (shares[i] && (!highest || *shares[i] > highest->share) && !(i == l2_roof && is_l2_far))
      highest = {*shares[i], roof_of(i)};
  // The tensor cores did more than any roof says: their FLOP are not known.
  if (is_l2_far && highest && highest->bound.what != bound_by::kind::compute &&
      *tensor_active > std::max(highest->share, latency_bound_below))
    return std::nullopt;
  if (!highest || highest->share >= latency_bound_below) return highest;
  if (!every_roof) return std::nullopt;  // an unknown roof may be the nearest one
  highest->bound = {bound_by::kind::latency, {}};
  return highest;
}

// Rates and roofs are a few percent off. A larger share means that the roof is not one.
constexpr double exceeds_its_roof = 1.05;

void limit_shares(roof_shares& shares) noexcept {
  if (shares[l2_roof] > 1.0) shares[l2_roof].reset();
  for (auto& share : shares) {
    if (share > exceeds_its_roof) share.reset();
    if (share > 1.0) share = 1;
  }
}

}  // namespace gpuprof

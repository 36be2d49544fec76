// SPDX-License-Identifier: Apache-2.0
// Parses kernel names of cuBLAS, CUTLASS and cuDNN: what they say about the computed product.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuprof::host::advice {

/// A matrix product or a convolution.
struct product_name {
  bool on_tensor_cores = false;
  bool single_precision = false;       // FP32 on CUDA cores: `sgemm`, `_ffma_`
  bool half_precision = false;         // 16 bit on CUDA cores: `simt_hgemm`
  std::uint32_t element_bytes = 0;     // of the operands; 0: not known, or FP64, or complex
  std::uint32_t aligned_elements = 0;  // all rows are a multiple of this; 0: the name does not say

  /// Tensor cores load 16 bytes at a time. Rows that are not a multiple of 16 bytes need a kernel
  /// that loads less at a time.
  std::optional<std::uint32_t> aligned_bytes() const noexcept {
    if (element_bytes == 0 || aligned_elements == 0) return std::nullopt;
    return element_bytes * aligned_elements;
  }
};
inline constexpr std::uint32_t full_alignment_bytes = 16;

/// Returns nothing if the name is not that of a product.
std::optional<product_name> parse_product(std::string_view kernel_name);

}  // namespace gpuprof::host::advice

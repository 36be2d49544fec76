// SPDX-License-Identifier: Apache-2.0
#include "host/advice/product_name.hpp"

#include <algorithm>
#include <initializer_list>

namespace gpuprof::host::advice {
namespace {

constexpr auto nowhere = std::string_view::npos;

bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool has(std::string_view name, std::initializer_list<std::string_view> words) noexcept {
  return std::any_of(words.begin(), words.end(),
                     [&](auto word) { return name.find(word) != nowhere; });
}

/// Finds a word that has no letter or digit next to it: "s8" is not in "s884gemm".
bool has_token(std::string_view name, std::initializer_list<std::string_view> tokens) noexcept {
  for (auto const token : tokens)
    for (auto at = name.find(token); at != nowhere; at = name.find(token, at + 1)) {
      auto const end = at + token.size();
      if ((at == 0 || !is_letter_or_digit(name[at - 1])) &&
          (end == name.size() || !is_letter_or_digit(name[end])))
        return true;
    }
  return false;
}

/// "convolve", "implicit_convolve", "conv2d"; not "convert".
bool is_convolution(std::string_view name) noexcept {
  for (auto at = name.find("conv"); at != nowhere; at = name.find("conv", at + 1))
    if (name.substr(at, 7) != "convert") return true;
  return has(name, {"_fprop_", "_dgrad_", "_wgrad_"});
}

/// The smallest number that directly follows any of these words. 0: none does.
std::uint32_t least_number_behind(std::string_view name,
                                  std::initializer_list<std::string_view> words) noexcept {
  std::uint32_t least = 0;
  for (auto const word : words)
    for (auto at = name.find(word); at != nowhere; at = name.find(word, at + 1)) {
      std::uint32_t number = 0;
      for (auto i = at + word.size(); i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
        number = std::min(number * 10 + static_cast<std::uint32_t>(name[i] - '0'), 1000U);
      if (number != 0) least = least == 0 ? number : std::min(least, number);
    }
  return least;
}

std::uint32_t bytes_of_elements(std::string_view name) noexcept {
  if (has(name, {"d884", "z884", "d1688", "tensorop_d", "tensorop_z", "dgemm", "zgemm", "c1688",
                 "cgemm"}))
    return 0;
  if (has(name, {"e4m3", "e5m2", "int8", "i8816", "i16832"}) || has_token(name, {"s8", "u8"}))
    return 1;
  if (has(name, {"bf16", "fp16", "h884", "h1688", "h16816", "tf32"}) ||
      has_token(name, {"f16", "half", "f16f16"}))
    return has(name, {"tf32"}) ? 4 : 2;
  // CUTLASS omits the type for FP32 operands that are computed as TF32.
  if (has(name, {"tensorop_s1688gemm", "tensorop_s1688fprop"})) return 4;
  return 0;
}

}  // namespace

std::optional<product_name> parse_product(std::string_view name) {
  if (!has(name, {"gemm", "nvjet", "matmul", "Gemm"}) && !is_convolution(name)) return std::nullopt;
  product_name product;
  product.single_precision = has(name, {"sgemm", "f32f32_f32f32_f32", "_ffma_"});
  product.half_precision = has(name, {"simt_hgemm", "maxwell_hgemm", "volta_hgemm"});
  product.on_tensor_cores =
      !product.single_precision && !product.half_precision &&
      has(name, {"tensorop", "s1688", "s16816", "s161616", "s884", "h884", "d884", "z884", "h1688",
                 "h16816", "i8816", "i16832", "gmma", "tensor16x8x", "tensor8x8x", "nvjet"});
  product.element_bytes = bytes_of_elements(name);
  product.aligned_elements = least_number_behind(name, {"align", "aligna", "alignb", "ldg"});
  return product;
}

}  // namespace gpuprof::host::advice

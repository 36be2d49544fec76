// SPDX-License-Identifier: Apache-2.0
// The names of the ranges that `--pytorch ops` records.
#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof {

/// The domain of PyTorch's operators ("aten::mm") and autograd nodes ("MmBackward0"). If their
/// payload is unsigned, it is their sequence number: that of a node is also that of the operator
/// which made it.
inline constexpr std::string_view torch_domain = "torch";
/// The domain of torch.profiler.record_function, which a program uses as it uses NVTX.
inline constexpr std::string_view torch_user_domain = "record_function";

/// The category of ranges in the domain of operators.
enum class torch_category : std::uint32_t { operation = 1, node = 2 };

/// False for ranges that come from inside a framework, one for each of its operators: they are no
/// parts of a program's structure, such as steps.
constexpr bool is_structure(std::string_view domain) noexcept {
  return domain != torch_domain;
}

}  // namespace gpuprof

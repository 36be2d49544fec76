// SPDX-License-Identifier: Apache-2.0
// What the ranges are called that this library records by itself.
#pragma once

#include <string_view>

namespace gpuprof {

/// The NVTX domain that is the library's own.
inline constexpr std::string_view own_domain = "gpuprof";
/// In it: from one gpuprof_step() of a thread to its next.
inline constexpr std::string_view own_step = "step";

}  // namespace gpuprof

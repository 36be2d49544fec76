// SPDX-License-Identifier: Apache-2.0
// The names of the ranges that this library itself records.
#pragma once

#include <string_view>

namespace gpuprof {

/// The NVTX domain of this library.
inline constexpr std::string_view own_domain = "gpuprof";
/// Range in this domain: from one gpuprof_step() of a thread to the next.
inline constexpr std::string_view own_step = "step";

}  // namespace gpuprof

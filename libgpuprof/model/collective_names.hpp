// SPDX-License-Identifier: Apache-2.0
// Tells kernels that wait for other GPUs by their names.
#pragma once

#include <string_view>

namespace gpuprof {

/// As kernels_of_collectives() has them, mangled or not, by plain comparison: tens of times as fast
/// as std::regex, whose locale is no matter for several threads besides.
bool is_named_as_collective(std::string_view kernel) noexcept;

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Records the NVTX calls of the program.
#pragma once

#include <cstdint>

namespace gpuprof::replay {

using get_export_table = void const* (*)(std::uint32_t);

/// The work of InitializeInjectionNvtx2, once for each shared object that uses NVTX. 1 on success.
int record_nvtx(get_export_table get) noexcept;

}  // namespace gpuprof::replay

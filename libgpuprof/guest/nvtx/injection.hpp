// SPDX-License-Identifier: Apache-2.0
// Attaches this library to the NVTX copy inside a shared object, as NVTX requires of tools.
#pragma once

#include <cstdint>

using NvtxGetExportTableFunc_t = void const* (*)(std::uint32_t);
struct nvtxExtModuleInfo_t;

namespace gpuprof::guest {

/// Implements InitializeInjectionNvtx2: called once for each shared object that uses NVTX, possibly
/// from several threads. Logs must be configured before. Returns 1 if attached, 0 if this NVTX is
/// not supported. Must not call NVTX: the first NVTX call of that object waits for this function.
int inject_nvtx(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// Implements InitializeInjectionNvtxExtension: the same for extension modules. Only the payload
/// extension is supported.
int inject_nvtx_extension(nvtxExtModuleInfo_t* module) noexcept;

}  // namespace gpuprof::guest

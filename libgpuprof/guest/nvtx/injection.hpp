// SPDX-License-Identifier: Apache-2.0
// Attaches this library to the NVTX copy inside a shared object, as NVTX asks its tools to.
#pragma once

#include <cstdint>

using NvtxGetExportTableFunc_t = void const* (*)(std::uint32_t);
struct nvtxExtModuleInfo_t;

namespace gpuprof::guest {

/// The work of InitializeInjectionNvtx2: called once for each shared object that uses NVTX, perhaps
/// from several threads. Logs must be configured before. 1 when attached, 0 when this NVTX cannot
/// be served. Must not call NVTX: that object's first call is waiting for us.
int inject_nvtx(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// The work of InitializeInjectionNvtxExtension: the same for the extension modules, of which the
/// payload extension is served.
int inject_nvtx_extension(nvtxExtModuleInfo_t* module) noexcept;

}  // namespace gpuprof::guest

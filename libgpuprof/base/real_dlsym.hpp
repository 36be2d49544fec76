// SPDX-License-Identifier: Apache-2.0
// The C library's own dlsym: libgpuprof_preload.so has one in front of it
// (preload/dlsym_export.cpp).
#pragma once

namespace gpuprof {

using dlsym_function = void* (*)(void* handle, char const* name);

/// Any thread, any time. Never null: where the C library has none, a function that finds nothing.
dlsym_function real_dlsym() noexcept;

}  // namespace gpuprof

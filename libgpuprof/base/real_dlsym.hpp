// SPDX-License-Identifier: Apache-2.0
// Returns the C library's own dlsym. libgpuprof_preload.so defines another one in front of it
// (preload/dlsym_export.cpp).
#pragma once

namespace gpuprof {

using dlsym_function = void* (*)(void* handle, char const* name);

/// Any thread, any time. Never null: if the C library has none, a function that finds nothing.
dlsym_function real_dlsym() noexcept;

}  // namespace gpuprof

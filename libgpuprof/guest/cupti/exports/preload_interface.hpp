// SPDX-License-Identifier: Apache-2.0
// Tells libgpuprof_preload.so where the program's calls of CUPTI are to go.
#pragma once

namespace gpuprof::guest {

/// Both libraries come from one build; where they do not, the preloaded one changes nothing.
inline constexpr unsigned preload_interface_version = 1;

struct preload_interface {
  unsigned version;
  /// The program's calls of CUPTI are ours to direct. Any time, also before constructors.
  bool (*shares)() noexcept;
  /// Where a call of `name` goes; null: nowhere. `found`: what the program would call without us,
  /// or null. Sets `stays` if the answer is the same for the rest of the process.
  void* (*where_call_goes)(char const* name, void* found, bool& stays) noexcept;
  /// Calls of CUPTI by the program come through the preloaded library, so its clients are seen.
  void (*sees_all_clients)() noexcept;
};

}  // namespace gpuprof::guest

/// The only symbol of libgpuprof.so beside its C API and its injection points.
extern "C" gpuprof::guest::preload_interface const* libgpuprof_for_preload(void);

// SPDX-License-Identifier: Apache-2.0
// Tells libgpuprof_preload.so where to send the program's calls of CUPTI.
#pragma once

namespace gpuprof::guest {

/// Both libraries come from one build; if the versions differ, the preloaded one changes nothing.
inline constexpr unsigned preload_interface_version = 1;

struct preload_interface {
  unsigned version;
  /// Returns true if we direct the program's calls of CUPTI. May be called at any time, even before
  /// constructors.
  bool (*shares)() noexcept;
  /// Returns the function for a call of `name`, or null. `found`: the function that the program
  /// would call without us, or null. Sets `stays` if the answer is the same for the rest of the
  /// process.
  void* (*where_call_goes)(char const* name, void* found, bool& stays) noexcept;
  /// Tells us that the program's calls of CUPTI come through the preloaded library, so its clients
  /// are seen.
  void (*sees_all_clients)() noexcept;
};

}  // namespace gpuprof::guest

/// The only symbol of libgpuprof.so besides its C API and its injection points.
extern "C" gpuprof::guest::preload_interface const* libgpuprof_for_preload(void);

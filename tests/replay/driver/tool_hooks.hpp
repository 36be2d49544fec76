// SPDX-License-Identifier: Apache-2.0
// How the fake driver tells the replay libcupti what the program does, as the real driver tells the
// real libcupti.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gpuprof::replay {

/// A driver call at its entry or exit, on the thread that makes it.
struct driver_call {
  std::uint32_t cbid = 0;
  CUpti_ApiCallbackSite site = CUPTI_API_ENTER;
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  CUresult result = CUDA_SUCCESS;
  char const* symbol = nullptr;
  bool symbol_is_there = true;  // else it points to no memory, as CUPTI's own has been seen to
  std::uint64_t* correlation_data = nullptr;  // the same word at entry and exit
  void const* parameters = nullptr;           // of the call, when it launches kernels
};

/// An activity record with its times, ids and text pointers already those of this process. The
/// replay libcupti keeps copies of bytes and texts.
struct activity {
  void* bytes = nullptr;
  std::uint64_t complete_at = 0;  // CLOCK_REALTIME when the GPU is done with it
};

/// Functions of the tool attached to the driver. Called on any thread; none throws.
struct tool_hooks {
  void (*call)(driver_call const&) noexcept = nullptr;
  void (*resource)(CUpti_CallbackIdResource, std::uint32_t context) noexcept = nullptr;
  void (*record)(activity const&) noexcept = nullptr;
  void (*driver_gone)() noexcept = nullptr;  // the driver has been torn down by exit()
};

/// Exported by the fake libcuda.so.1 beside the real driver's functions.
using set_tool_function = void (*)(tool_hooks const*);
using get_tool_function = tool_hooks const* (*)();
using busy_until_function = void (*)(CUstream, std::uint64_t realtime_ns);
using capturing_function = void (*)(bool begins);
inline constexpr char const* set_tool_name = "gpuprof_fake_driver_set_tool";
inline constexpr char const* get_tool_name = "gpuprof_fake_driver_tool";
/// The GPU works on that stream until then: cuCtxSynchronize waits for it, cuStreamQuery says so.
inline constexpr char const* busy_until_name = "gpuprof_fake_driver_busy_until";
/// A stream begins or ends to be captured into a graph, for what cuStreamIsCapturing says on that
/// thread.
inline constexpr char const* capturing_name = "gpuprof_fake_driver_capturing";

}  // namespace gpuprof::replay

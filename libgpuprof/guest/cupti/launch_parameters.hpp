// SPDX-License-Identifier: Apache-2.0
// What a launch callback says of the launch, read from the parameters of the driver call.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <array>
#include <cstdint>

namespace gpuprof::guest {

/// How a driver call's parameters are laid out, by its name.
enum class launch_call : std::uint8_t {
  none,
  kernel,        // cuLaunchKernel
  kernel_ex,     // cuLaunchKernelEx
  cooperative,   // cuLaunchCooperativeKernel
  graph,         // cuGraphLaunch
  not_readable,  // launches kernels, and counters cannot run around it: of several GPUs, old calls
};

struct launch_call_kind {
  launch_call call = launch_call::none;
  bool default_stream_per_thread = false;  // stream 0 is the thread's own
};

/// By CUPTI's name of the call, as in "cuLaunchKernelEx_ptsz".
launch_call_kind launch_call_named(char const* name) noexcept;

struct launch_parameters {
  void const* work = nullptr;  // the CUfunction, or the CUgraphExec
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;  // dynamic
  CUstream stream = nullptr;
  bool cooperative = false;
  /// As in cuLaunchKernel: a pointer to each argument, or else one buffer with all of them. Until
  /// the driver has accepted the launch they may point anywhere.
  void* const* arguments = nullptr;
  void* const* argument_buffer = nullptr;
  std::uint32_t name = 0;  // of the kernel, hashed: its handle may have been another's; 0: of none
};

/// False when the call has none that can be read. Safe before the call, whatever the program
/// passes.
bool read_launch_parameters(launch_call_kind kind, CUpti_CallbackData const& call,
                            launch_parameters& into) noexcept;

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// What a driver call says of itself in its parameters: of a launch, what is launched; of other
// calls, on which stream they put their work.
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

// On which stream a driver call puts its work, read from its parameters.

/// Where a driver call keeps its stream, by the call's name.
struct stream_place {
  enum class kind : std::uint8_t {
    none,       // it has none: it works on the default stream
    parameter,  // at `offset` of its parameters
    unknown     // newer than this table
  };
  kind is = kind::unknown;
  bool default_stream_per_thread = false;  // stream 0 is the thread's own
  std::uint16_t offset = 0;
};

/// By CUPTI's name of a call that puts copies, fills, functions or waits on a stream, as in
/// "cuMemcpyHtoDAsync_v2_ptsz".
stream_place stream_place_named(char const* name) noexcept;

/// False when it is not known.
bool read_stream(stream_place place, void const* parameters, CUstream& into) noexcept;

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of driver calls: what a launch launches, and on which stream other calls put
// their work.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <array>
#include <cstdint>

namespace gpuprof::guest {

/// Layout of a driver call's parameters, from its name.
enum class launch_call : std::uint8_t {
  none,
  kernel,        // cuLaunchKernel
  kernel_ex,     // cuLaunchKernelEx
  cooperative,   // cuLaunchCooperativeKernel
  graph,         // cuGraphLaunch
  not_readable,  // launches kernels that cannot be read: on several GPUs, or old calls
};

struct launch_call_kind {
  launch_call call = launch_call::none;
  bool default_stream_per_thread = false;  // stream 0 means the thread's own stream
};

/// `name`: CUPTI's name of the call, as in "cuLaunchKernelEx_ptsz".
launch_call_kind launch_call_named(char const* name) noexcept;

struct launch_parameters {
  void const* work = nullptr;  // the CUfunction, or the CUgraphExec
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;  // dynamic
  CUstream stream = nullptr;
  bool cooperative = false;
  /// As in cuLaunchKernel: a pointer to each argument, or one buffer with all of them. They may be
  /// invalid until the driver has accepted the launch.
  void* const* arguments = nullptr;
  void* const* argument_buffer = nullptr;
  std::uint32_t name = 0;  // hash of the kernel's name, as its handle may be reused; 0: no name
};

/// Returns false if the parameters cannot be read. Safe before the call, for anything that the
/// program passes.
bool read_launch_parameters(launch_call_kind kind, CUpti_CallbackData const& call,
                            launch_parameters& into) noexcept;

// Finds the stream on which a driver call puts its work, in its parameters.

/// Location of the stream in a driver call's parameters, from the call's name.
struct stream_place {
  enum class kind : std::uint8_t {
    none,       // no stream: works on the default stream
    parameter,  // at `offset` of its parameters
    unknown     // the call is newer than this table
  };
  kind is = kind::unknown;
  bool default_stream_per_thread = false;  // stream 0 means the thread's own stream
  std::uint16_t offset = 0;
};

/// `name`: CUPTI's name of a call that puts copies, fills, functions or waits on a stream, as in
/// "cuMemcpyHtoDAsync_v2_ptsz".
stream_place stream_place_named(char const* name) noexcept;

/// Returns false if the stream is not known.
bool read_stream(stream_place place, void const* parameters, CUstream& into) noexcept;

}  // namespace gpuprof::guest

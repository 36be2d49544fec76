// SPDX-License-Identifier: Apache-2.0
// On which stream a driver call puts its work, read from its parameters.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstdint>

namespace gpuprof::guest {

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

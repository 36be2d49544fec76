// SPDX-License-Identifier: Apache-2.0
// What libgpuprof.so asks of libgpuprof-capture.so, which lies beside it: figures of the last
// seconds of the capture that it writes.
#pragma once

#include <cstddef>
#include <cstdint>

struct gpuprof_metrics;  // of <gpuprof/gpuprof.h>

namespace gpuprof {

/// The last nanoseconds before a moment.
struct recent_part {
  std::uint64_t length = 0;
  std::uint64_t until = 0;  // all work that was launched or began before is in the file
};

/// Exceptions do not leave these functions, because each library may have its own C++ library.
struct recent_metrics_reader {
  /// Returns null if the capture cannot be read; then `why` is the reason, cut to `size` bytes.
  gpuprof_metrics const* (*take)(char const* capture, recent_part part, char* why,
                                 std::size_t size) noexcept;
  void (*release)(gpuprof_metrics const* metrics) noexcept;
};

/// Name of the `recent_metrics_reader` that libgpuprof-capture.so exports.
inline constexpr char const* recent_metrics_symbol = "gpuprof_recent_metrics_v1";

}  // namespace gpuprof

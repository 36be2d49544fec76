// SPDX-License-Identifier: Apache-2.0
// Names for calls that a capture does not hold. The work on the GPU tells when and on which thread
// such a call was made, but not which function it was.
#pragma once

#include "model/records.hpp"

#include <string_view>

namespace gpuprof::host {

template <class Work>
constexpr std::string_view unrecorded_call(Work const& work) noexcept {
  constexpr bool is_kernel = requires {
    work.shape;
  }
  , has_bytes = requires {
    work.bytes;
  };
  if (raw(work.graph) != 0 || !(is_kernel || has_bytes)) return "graph launch (call not recorded)";
  if constexpr (is_kernel) return "kernel launch (call not recorded)";
  if constexpr (requires { work.source_kind; }) return "copy (call not recorded)";
  return "fill (call not recorded)";
}

}  // namespace gpuprof::host

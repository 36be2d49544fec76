// SPDX-License-Identifier: Apache-2.0
// Where the times of a record are, for the kinds of which we know it.
#pragma once

#include "guest/cupti/record_layouts.hpp"

#include <cstdint>

namespace gpuprof {

/// Replaces each time by what `replace` makes of it, the start first. By value: records are packed.
/// Kinds whose times have no place here (those of OpenACC, OpenMP and Confidential Computing) are
/// left as they are.
template <class Replace>
void replace_times(CUpti_Activity& record, Replace replace) {
  auto const span_of = [&](auto& r) {
    r.start = replace(std::uint64_t{r.start});
    r.end = replace(std::uint64_t{r.end});
  };
  auto const moment_of = [&](auto& r) { r.timestamp = replace(std::uint64_t{r.timestamp}); };
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      auto& kernel = reinterpret_cast<layout::kernel&>(record);
      span_of(kernel);
      kernel.completed = replace(std::uint64_t{kernel.completed});
      kernel.queued = replace(std::uint64_t{kernel.queued});
      kernel.submitted = replace(std::uint64_t{kernel.submitted});
      return;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return span_of(reinterpret_cast<layout::graph&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return span_of(reinterpret_cast<layout::copy&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return span_of(reinterpret_cast<layout::peer_copy&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return span_of(reinterpret_cast<layout::set&>(record));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API:
      return span_of(reinterpret_cast<layout::api_call&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return span_of(reinterpret_cast<layout::synchronization&>(record));
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return span_of(reinterpret_cast<layout::unified_memory&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return span_of(reinterpret_cast<layout::overhead&>(record));
    case CUPTI_ACTIVITY_KIND_JIT:
      return span_of(reinterpret_cast<layout::jit&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY:
      return span_of(reinterpret_cast<layout::allocation&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return moment_of(reinterpret_cast<layout::memory&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return moment_of(reinterpret_cast<layout::memory_pool&>(record));
    case CUPTI_ACTIVITY_KIND_MARKER:
      return moment_of(reinterpret_cast<layout::marker&>(record));
    default:
      return;
  }
}

/// 0: none, or not known.
inline std::uint64_t start_of(CUpti_Activity& record) noexcept {
  std::uint64_t start = 0;
  bool is_first = true;
  replace_times(record, [&](std::uint64_t time) {
    if (is_first) start = time;
    is_first = false;
    return time;
  });
  return start;
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// One piece of GPU work of any kind, as the time ledger sees it.
#pragma once

#include "model/records.hpp"

namespace gpuprof::host {

enum class item_kind : std::uint8_t { compute, communication, transfer };

struct gpu_item {
  timestamp_ns start, end;
  timestamp_ns launched;  // 0: not seen
  device_id device{};
  stream_id stream{};
  context_id context{};
  thread_index thread{};  // 0: not seen
  item_kind kind{};
  bool of_graph = false;              // part of a graph, or a whole graph
  bool is_copy = false;               // a copy or fill; a copy between GPUs is communication too
  std::uint32_t range = 0xffff'ffff;  // index of the innermost range, or no_range
  std::uint32_t subject = 0;          // meaning depends on the creator: for a kernel, its shape
  correlation_id correlation{};
};

inline std::uint64_t nanoseconds_of(gpu_item const& item) noexcept {
  return item.end > item.start ? static_cast<std::uint64_t>((item.end - item.start).value) : 0;
}

}  // namespace gpuprof::host

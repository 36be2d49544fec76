// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/memory_summary.hpp"

#include <algorithm>
#include <array>

namespace gpuprof::host {

std::string_view text_of(memory_kind kind) noexcept {
  switch (kind) {
    case memory_kind::pageable:
      return "Pageable";
    case memory_kind::pinned:
      return "Pinned";
    case memory_kind::device:
      return "Device";
    case memory_kind::array:
      return "Array";
    case memory_kind::managed:
      return "Managed";
    case memory_kind::device_static:
      return "Device Static";
    case memory_kind::managed_static:
      return "Managed Static";
    case memory_kind::unknown:
      break;
  }
  return "Unknown";
}

void memory_operations::add(copy_record const& copy) {
  auto const kind = static_cast<std::size_t>(copy.kind);
  auto& to = series_[kind < memset_slot ? kind : 0];
  to.time.add_mean_of(nanoseconds(copy.duration), copy.copies());
  if (copy.bytes != 0) to.bytes.add_mean_of(copy.bytes, copy.copies());  // 0: not known
}

void memory_operations::add(memset_record const& fill) {
  auto& to = series_[memset_slot];
  to.time.add(nanoseconds(fill.duration));
  if (fill.bytes != 0) to.bytes.add(fill.bytes);
}

void memory_operations::add(unified_memory_record const& counter) {
  // CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_*; the other kinds count faults.
  std::size_t slot = unified_slot;
  if (counter.counter == 2)
    slot += 1;
  else if (counter.counter == 8)
    slot += 2;
  else if (counter.counter != 1)
    return;
  series_[slot].time.add(nanoseconds(counter.duration));
  series_[slot].bytes.add(counter.value);
}

std::vector<memory_row> memory_operations::rows() {
  constexpr std::array unified = {"Host-to-Device", "Device-to-Host", "Device-to-Device"};
  std::vector<memory_row> rows;
  for (std::size_t slot = 0; slot < series_.size(); ++slot) {
    if (series_[slot].time.count() == 0) continue;
    auto name = slot < memset_slot ? operation_of(static_cast<copy_kind>(slot))
                : slot == memset_slot
                    ? std::string(operation_of_memset)
                    : "[CUDA memcpy Unified " + std::string(unified[slot - unified_slot]) + "]";
    rows.push_back(
        {std::move(name), series_[slot].time.summarize(), series_[slot].bytes.summarize()});
  }
  return rows;
}

std::vector<memory_row> memory_operations::by_time() {
  auto sorted = rows();
  std::stable_sort(sorted.begin(), sorted.end(), [](memory_row const& a, memory_row const& b) {
    return a.time.total > b.time.total;
  });
  return sorted;
}

std::vector<memory_row> memory_operations::by_size() {
  auto sorted = rows();
  std::erase_if(sorted, [](memory_row const& row) { return row.bytes.count == 0; });
  std::stable_sort(sorted.begin(), sorted.end(), [](memory_row const& a, memory_row const& b) {
    return a.bytes.total > b.bytes.total;
  });
  return sorted;
}

}  // namespace gpuprof::host

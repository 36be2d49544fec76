// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/memory_summary.hpp"

#include "host/analysis/samples.hpp"

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
  auto const slot = kind < memset_slot ? kind : 0;
  inferred_.add(copy, static_cast<std::uint32_t>(slot));
  auto& to = series_[slot];
  to.time.add_mean_of(nanoseconds(copy.duration), copy.copies());
  if (copy.bytes != 0) to.bytes.add_mean_of(copy.bytes, copy.copies());  // 0: not known
}

void memory_operations::add(memset_record const& fill) {
  inferred_.add(fill, memset_slot);
  auto& to = series_[memset_slot];
  to.time.add(nanoseconds(fill.duration));
  if (fill.bytes != 0) to.bytes.add(fill.bytes);
}

void memory_operations::add(unified_memory_record const& counter) {
  // Values are CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_*; the other kinds count
  // faults.
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
    if (inferred_.any()) rows.back().inferred = inferred_.of(static_cast<std::uint32_t>(slot));
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

namespace {

// Values are CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_*.
constexpr std::uint32_t host_to_device = 1, device_to_host = 2;

}  // namespace

void migrations::add(unified_memory_record const& counter) {
  if (counter.counter != host_to_device && counter.counter != device_to_host) return;
  auto& row = by_address_[counter.address];
  row.address = counter.address;
  (counter.counter == host_to_device ? row.to_device : row.to_host) += counter.value;
  row.ns += nanoseconds(counter.duration);
}

std::vector<migration_row> migrations::by_address() const {
  std::vector<migration_row> rows;
  rows.reserve(by_address_.size());
  for (auto const& [address, row] : by_address_) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [](migration_row const& a, migration_row const& b) {
    return a.to_device + a.to_host > b.to_device + b.to_host;
  });
  return rows;
}

migration_totals migrations::totals() const {
  migration_totals sum;
  if (by_address_.empty()) return sum;
  sum.lowest = by_address_.begin()->first;
  sum.highest = by_address_.rbegin()->first;
  for (auto const& [address, row] : by_address_) {
    sum.to_device += row.to_device;
    sum.to_host += row.to_host;
  }
  return sum;
}

}  // namespace gpuprof::host

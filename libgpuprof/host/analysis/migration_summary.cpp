// SPDX-License-Identifier: Apache-2.0
#include "host/analysis/migration_summary.hpp"

#include "host/analysis/samples.hpp"

#include <algorithm>

namespace gpuprof::host {
namespace {

// CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_*.
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

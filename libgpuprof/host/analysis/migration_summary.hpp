// SPDX-License-Identifier: Apache-2.0
// What unified memory moved between host and devices, by address.
#pragma once

#include "model/records.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace gpuprof::host {

/// Migrations that began at one address, or all together.
struct migration_row {
  std::uint64_t address = 0;
  std::uint64_t to_device = 0, to_host = 0;  // bytes
  std::uint64_t ns = 0;                      // that both took, added up
};

struct migration_totals {
  std::uint64_t to_device = 0, to_host = 0;  // bytes
  std::uint64_t lowest = 0, highest = 0;     // address at which a migration began
};

class migrations {
 public:
  /// Only transfers between host and device; others are ignored.
  void add(unified_memory_record const& counter);

  bool empty() const noexcept { return by_address_.empty(); }
  /// Most bytes first.
  std::vector<migration_row> by_address() const;
  migration_totals totals() const;

 private:
  std::map<std::uint64_t, migration_row> by_address_;
};

}  // namespace gpuprof::host

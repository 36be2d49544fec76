// SPDX-License-Identifier: Apache-2.0
// How long copies and fills took, and how many bytes they moved: per kind of operation; and what
// unified memory moved, by address.
#pragma once

#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// "Pageable", "Pinned", "Device", ...
std::string_view text_of(memory_kind kind) noexcept;

struct memory_row {
  std::string operation;
  statistics time;   // ns
  statistics bytes;  // bytes
};

class memory_operations {
 public:
  void add(copy_record const& copy);
  void add(memset_record const& fill);
  /// Only the counters that are transfers; others are ignored.
  void add(unified_memory_record const& counter);

  /// Longest total time first.
  std::vector<memory_row> by_time();
  /// Most bytes first.
  std::vector<memory_row> by_size();

 private:
  // One per copy_kind, then the fill, then the three directions of unified memory.
  static constexpr std::size_t memset_slot = 11;
  static constexpr std::size_t unified_slot = 12;
  struct series {
    samples time, bytes;
  };
  std::vector<memory_row> rows();

  std::array<series, unified_slot + 3> series_;
};

// What unified memory moved between host and devices, by address.

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

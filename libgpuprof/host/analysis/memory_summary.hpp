// SPDX-License-Identifier: Apache-2.0
// Sums time and bytes of copies and fills for each kind of operation, and what unified memory
// moved, by address.
#pragma once

#include "host/analysis/inferred_times.hpp"
#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
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
  /// Of `time`; only if times of the capture were taken from other launches of a graph.
  std::optional<inferred_time> inferred = {};
};

class memory_operations {
 public:
  void add(copy_record const& copy);
  void add(memset_record const& fill);
  /// Ignores counters that are not transfers.
  void add(unified_memory_record const& counter);

  /// Returns rows with the longest total time first.
  std::vector<memory_row> by_time();
  /// Returns rows with the most bytes first.
  std::vector<memory_row> by_size();
  bool any_inferred() const noexcept { return inferred_.any(); }

 private:
  // One slot for each copy_kind, then fills, then the three directions of unified memory.
  static constexpr std::size_t memset_slot = 11;
  static constexpr std::size_t unified_slot = 12;
  struct series {
    samples time, bytes;
  };
  std::vector<memory_row> rows();

  std::array<series, unified_slot + 3> series_;
  inferred_times inferred_;  // lines are slots
};

// Sums what unified memory moved between host and devices, by address.

/// The sum of migrations that began at one address.
struct migration_row {
  std::uint64_t address = 0;
  std::uint64_t to_device = 0, to_host = 0;  // bytes
  std::uint64_t ns = 0;                      // time of both directions together
};

struct migration_totals {
  std::uint64_t to_device = 0, to_host = 0;  // bytes
  // lowest and highest address at which a migration began
  std::uint64_t lowest = 0, highest = 0;
};

class migrations {
 public:
  /// Ignores counters that are not transfers between host and device.
  void add(unified_memory_record const& counter);

  bool empty() const noexcept { return by_address_.empty(); }
  /// Returns rows with the most bytes first.
  std::vector<migration_row> by_address() const;
  migration_totals totals() const;

 private:
  std::map<std::uint64_t, migration_row> by_address_;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// How long copies and fills took, how many bytes they moved: per kind of operation.
#pragma once

#include "host/analysis/samples.hpp"
#include "model/records.hpp"

#include <array>
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

}  // namespace gpuprof::host

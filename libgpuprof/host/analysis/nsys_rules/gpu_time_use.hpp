// SPDX-License-Identifier: Apache-2.0
// Cuts the time from first to last work of each GPU into equal chunks, and finds those little used.
#pragma once

#include "host/analysis/nsys_rules/rule_rows.hpp"

#include <map>
#include <vector>

namespace gpuprof::host::nsys_rules {

/// Feed all work to find_extent(), then all again to add(); in any order. Work that runs at once
/// adds up past 100 %.
class gpu_time_use {
 public:
  explicit gpu_time_use(unsigned chunks) : chunks_(chunks) {}

  void find_extent(gpu_work const& work);
  void add(gpu_work const& work);
  /// Neighbors below the threshold are one row, with their mean; least used first.
  std::vector<use_row> below(double percent) const;

 private:
  struct of_device {
    timestamp_ns begin, end;
    context_id context{};
    std::uint64_t chunk_ns = 0;
    std::vector<double> busy_ns;  // by chunk
  };
  void add_rows(device_id device, of_device const& of, double percent,
                std::vector<use_row>& rows) const;

  unsigned chunks_;
  std::map<device_id, of_device> devices_;
};

}  // namespace gpuprof::host::nsys_rules

// SPDX-License-Identifier: Apache-2.0
// Makes one kind of item of all GPU work of a capture, for the time ledger.
#pragma once

#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/work_tables.hpp"
#include "host/reading/trace_contents.hpp"

#include <vector>

namespace gpuprof::host::command {

class gpu_items {
 public:
  /// The trace outlives it.
  explicit gpu_items(trace_contents& trace);

  gpu_item of(kernel_record const& kernel) const;
  gpu_item of(graph_record const& graph) const;
  gpu_item of(copy_record const& copy) const;
  gpu_item of(memset_record const& fill) const;

  bool is_collective(std::uint32_t shape) const noexcept {
    return shape < collectives_.size() && collectives_[shape];
  }

 private:
  template <class Record>
  gpu_item common(Record const& record) const;

  launch_ranges const& launched_;
  std::vector<bool> collectives_;
};

transfer_key key_of(copy_record const& copy) noexcept;
transfer_key key_of(memset_record const& fill) noexcept;

}  // namespace gpuprof::host::command

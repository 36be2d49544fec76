// SPDX-License-Identifier: Apache-2.0
// Counts the launches of each workload by the Python stack that launched it.
#pragma once

#include "host/analysis/workload_cells.hpp"

#include <map>
#include <span>
#include <vector>

namespace gpuprof::host {

class stack_workloads {
 public:
  /// `stack`: to which the work belongs.
  template <class Record>
  void add(Record const& record, stack_id stack, workload_times::seen const& seen) {
    cells_.add(place_of(record.thread, stack), seen, nanoseconds(record.duration));
  }

  /// Call after launch_metrics::join(). Spreads the launches without a stack as stack_times does:
  /// over the stacks of their thread that launched the same workload, else over all of it.
  void finish(launch_metrics const& metrics, workload_times const& times);

  /// Adds up what these stacks launched, and what these threads launched if they have no stacks.
  std::vector<launched_part> launched_by(std::span<stack_id const> stacks,
                                         std::span<thread_index const> threads) const;

 private:
  using place = std::pair<thread_index, stack_id>;
  using parts = std::map<std::uint32_t, launched_part>;  // by workload
  std::uint32_t place_of(thread_index thread, stack_id stack);

  std::map<place, std::uint32_t> number_of_;
  std::vector<place> places_;
  std::uint32_t last_ = 0;  // launches of one place often come together
  workload_cells cells_;    // by place
  std::map<stack_id, parts> of_stack_;
  std::map<thread_index, parts> without_stack_;
};

}  // namespace gpuprof::host

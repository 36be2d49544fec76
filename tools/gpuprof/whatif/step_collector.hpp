// SPDX-License-Identifier: Apache-2.0
// Collects what a replay goes through while the records of a capture pass by.
#pragma once

#include "model/records.hpp"
#include "whatif/choose_steps.hpp"

#include <memory>

namespace gpuprof::host::command {

/// Takes the records in any order; those outside of the chosen steps are left out.
class step_collector {
 public:
  /// The capture must outlive it.
  step_collector(trace_contents& trace, chosen_steps chosen);
  ~step_collector();

  void add(kernel_record const& kernel);
  void add(graph_record const& graph);
  void add(copy_record const& copy);
  void add(memset_record const& fill);
  void add(api_record const& call);
  /// Call once, after all records. Returns an error that says why the steps cannot be replayed.
  result<steps_of_capture> finish();

 private:
  class collecting;
  std::unique_ptr<collecting> all_;
};

}  // namespace gpuprof::host::command

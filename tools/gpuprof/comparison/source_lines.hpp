// SPDX-License-Identifier: Apache-2.0
// Adds up the GPU time of lines of Python or modules of PyTorch, in each step.
#pragma once

#include "host/analysis/inferred_times.hpp"
#include "host/analysis/timeline/step_ranges.hpp"
#include "host/compare/run_digest.hpp"
#include "host/reading/forward_stacks.hpp"
#include "host/reading/trace_contents.hpp"
#include "lines/source_groups.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::command {

class source_lines {
 public:
  source_lines(trace_contents& trace, line_options const& by, std::string const& step);

  /// Work in order of time; `range` is the innermost one of the program's structure, `what` tells
  /// which launches are alike, `has_own_time` is false if `ns` is the mean of other launches. A
  /// launch without a stack has that of the last one alike on its thread, which is right on average
  /// because those with a stack were chosen at random.
  template <class Row>
  void add(Row const& row, std::uint64_t what, std::uint32_t range, double ns, bool has_own_time) {
    auto const found = add(row.stack, row.range, row.thread, what, range, ns);
    if (found && has_own_time) inferred_.add(row, *found);
  }
  /// By name of the line or module.
  std::map<std::string, compare::duration_series> finish();

 private:
  struct line {
    compare::duration_series durations;
    std::map<std::uint32_t, double> ns_of_step;
  };
  /// Returns the line; nothing if the work counts for none.
  std::optional<std::uint32_t> add(stack_id stack, range_id launched_in, thread_index thread,
                                   std::uint64_t what, std::uint32_t range, double ns);
  /// A line is known by its text, since numbers change when a program is edited; lines of a file
  /// with the same text are counted from the top.
  void name_groups(std::vector<source_group> const& groups, stack_grouping by);

  std::unique_ptr<forward_stacks> forward_;  // null: lines do not need it
  step_ranges steps_;
  std::vector<std::string> names_;
  std::vector<line> lines_;
  inferred_times inferred_;  // of lines_
  std::map<stack_id, std::uint32_t> line_of_stack_;
  std::map<std::pair<thread_index, std::uint64_t>, stack_id> last_;
};

}  // namespace gpuprof::host::command

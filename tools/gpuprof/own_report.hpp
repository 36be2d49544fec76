// SPDX-License-Identifier: Apache-2.0
// A report of gpuprof stats that shares no data with others: all of it is in one file.
#pragma once

#include "capture/layout.hpp"
#include "host/analysis/selection.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/trace_contents.hpp"
#include "model/kernel_name.hpp"
#include "stats_output.hpp"

#include <memory>

namespace gpuprof::host::command {

/// What a report is made from. The trace and the filters outlive it.
struct own_report_inputs {
  trace_contents& trace;
  selection const* filters;  // null: there are none
  kernel_name_style names{};

  template <class Record>
  bool keeps(Record const& record) const {
    return filters == nullptr || filters->keeps(record);
  }
  /// Adds the columns that filters look at.
  void add_columns_of_filters(capture::column_set<kernel_record>& to) const {
    if (filters == nullptr) return;
    to.insert(&kernel_record::start);
    to.insert(&kernel_record::duration);
    to.insert(&kernel_record::launched);
    to.insert(&kernel_record::shape);
    to.insert(&kernel_record::device);
    to.insert(&kernel_record::stream);
    to.insert(&kernel_record::thread);
    to.insert(&kernel_record::range);
  }
};

/// Made before the walk over the capture, and kept as long as its table.
class own_report {
 public:
  virtual ~own_report() = default;
  /// Adds what the report reads to the walk.
  virtual void join(capture_walk& walk) = 0;
  /// Called after the walk. The table has the name and the title of the report.
  virtual finished_report finish() = 0;
};

using make_own_report = std::unique_ptr<own_report> (*)(own_report_inputs const&);

}  // namespace gpuprof::host::command

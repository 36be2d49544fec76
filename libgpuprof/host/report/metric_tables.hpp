// SPDX-License-Identifier: Apache-2.0
// The reports of hardware counters by kernel and by range.
#pragma once

#include "host/analysis/metric_summary.hpp"
#include "text/table.hpp"

namespace gpuprof::host::report {

text::table kernel_metric_table(std::vector<metric_row> rows);
text::table range_metric_table(std::vector<metric_row> rows, text_of_name const& text);

}  // namespace gpuprof::host::report

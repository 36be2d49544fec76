// SPDX-License-Identifier: Apache-2.0
// Prints the metrics of a chip or the plan of a set as a table, CSV, TSV or JSON.
#pragma once

#include "guest/metrics/planning/pass_plan.hpp"
#include "output_file.hpp"
#include "report_format.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

struct shown_metric {
  std::string name;
  guest::metric_properties properties;
  /// Number of launches that it needs by itself, and if it can be sampled; empty: not asked. passes
  /// 0: readings cannot include it.
  std::optional<std::size_t> passes;
  std::optional<bool> sampled;
};

struct metric_list {
  std::string chip, cupti;  // "GH100", "13.0.1"
  std::vector<shown_metric> metrics;
  guest::metric_catalog const* catalog = nullptr;  // lists its suffixes
};

struct set_plan {
  std::string cupti;
  std::vector<std::string> words;     // the requested sets and names
  std::vector<shown_metric> metrics;  // the metrics in the order of the plan
  std::vector<std::string> absent;    // metrics of the sets that only other chips have
  guest::pass_plan plan;
};

void write_metrics(metric_list const& list, report_format format, output_file const& out);
/// JSON includes unusable metrics; for other formats the caller reports them.
void write_plan(set_plan const& set, report_format format, output_file const& out);

}  // namespace gpuprof::host::command

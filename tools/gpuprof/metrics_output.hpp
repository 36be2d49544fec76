// SPDX-License-Identifier: Apache-2.0
// Prints metrics of a chip and the plan of a set: a table, CSV, TSV or JSON.
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
  /// Launches it takes alone, and whether it can be sampled; empty: not asked. 0: the launch
  /// sampler cannot read it.
  std::optional<std::size_t> passes;
  std::optional<bool> sampled;
};

struct metric_list {
  std::string chip, cupti;  // "GH100", "13.0.1"
  std::vector<shown_metric> metrics;
  guest::metric_catalog const* catalog = nullptr;  // its suffixes
};

struct set_plan {
  std::string cupti;
  std::vector<std::string> words;     // what was asked for: sets and names
  std::vector<shown_metric> metrics;  // those of the plan, in its order
  std::vector<std::string> absent;    // what the sets have on other chips
  guest::pass_plan plan;
};

void write_metrics(metric_list const& list, report_format format, output_file const& out);
/// Unusable metrics are in JSON, and else said by the caller.
void write_plan(set_plan const& set, report_format format, output_file const& out);

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
// Writes what a step would take with a repair, or what it is sensitive to, as text, a table and
// JSON.
#pragma once

#include "host/replay/repair.hpp"
#include "host/replay/sensitivity.hpp"
#include "host/replay/step_paths.hpp"
#include "text/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::report {

struct whatif_report {
  std::vector<std::string> heading;  // what was captured, what was lost
  std::string step;                  // "step"
  std::size_t steps = 0, all_steps = 0;
  std::vector<std::string> remarks;  // what limits the answer
  double recorded_ns = 0;            // of a step
  double replayed_ns = 0;            // likewise, without an edit
  /// If every other step has the CPU work of the one before; nothing: they differ too much.
  std::optional<double> checked_ns;
  replay::critical_path path;
  replay::step_paths paths;  // by kind of work only; JSON has them
  // Exactly one of `forecast` and `sensitivities` is set.
  std::vector<std::string> repairs;  // as the user gave them
  std::optional<replay::forecast> forecast;
  std::optional<replay::sensitivities> sensitivities;
};

/// Returns the lines above the table; with a forecast, the whole answer.
std::vector<std::string> whatif_lines(whatif_report const& of);
/// The report must outlive the table, which has one row with a forecast.
text::table whatif_table(whatif_report const& of);
void write_whatif_json(whatif_report const& of, text::text_sink const& out);

}  // namespace gpuprof::host::report

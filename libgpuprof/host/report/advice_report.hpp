// SPDX-License-Identifier: Apache-2.0
// What `gpuprof analyze` has to say, before it becomes text, JSON or CSV.
#pragma once

#include "host/advice/joined_advice.hpp"
#include "host/report/ledger_table.hpp"
#include "text/table.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::report {

struct captured_rank {
  std::string rank, capture;
  double window_ns = 0;
  advice::bottleneck holds;
};

struct advice_report {
  std::vector<std::string> heading;  // what was captured, lost, paid
  advice::bottleneck holds;
  std::optional<advice::roof_distance> roof;
  std::string roof_is_missing;  // what to record where that is not known
  double window_ns = 0;         // of one GPU; of several ranks the longest
  double all_windows_ns = 0;    // of all GPUs of all ranks
  double best_case_ns = 0;      // of these, if all findings were mended
  double min_gain = 0.01;       // of the window: findings below are not shown
  ledger time;
  advice::joined_advice advice;
  std::vector<captured_rank> ranks;  // none: one capture
  std::vector<std::string> remarks;  // what limits the answer
};

struct advice_text_options {
  std::optional<ledger_lines> by;    // nothing: by GPU, of several captures by rank
  std::optional<std::size_t> limit;  // findings, 0: all; nothing: ten, and a hundred lines in all
};

/// Ends on a page of a hundred lines unless a limit is given.
void write_advice_text(advice_report const& report, advice_text_options const& options,
                       text::text_sink const& out, text::page const& on);
/// One object, "schema": "gpuprof-analyze-1".
void write_advice_json(advice_report const& report, text::text_sink const& out);
/// A row for each finding, those below the threshold last.
text::table advice_csv_table(advice_report const& report);

}  // namespace gpuprof::host::report

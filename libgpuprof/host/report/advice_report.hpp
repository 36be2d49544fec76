// SPDX-License-Identifier: Apache-2.0
// The result of `gpuprof analyze` before it becomes text, JSON or CSV.
#pragma once

#include "host/advice/joined_advice.hpp"
#include "host/replay/step_paths.hpp"
#include "host/report/ledger_table.hpp"
#include "text/table.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuprof::host::report {

struct captured_rank {
  std::string rank, capture;
  double window_ns = 0;
  advice::bottleneck holds;
  std::vector<std::pair<std::string, std::uint64_t>> costs;  // {"cost.start_ns", 9800000}
};

/// The steps of a run or phase without their warm-up, when only they are looked at. Without steps:
/// the part of a run behind the first tenth of the launches.
struct analyzed_part {
  std::string step;  // "step"; empty: there are no steps
  std::size_t steps = 0, warm_up = 0;
  std::uint32_t first_step = 0;                 // its number in the whole run
  double before_ns = 0, ns = 0, behind_ns = 0;  // captured time
  bool is_of_phase = false;                     // before and behind are inside of the phase
};

/// "38 of 40 "step", 1.52 s; left out: 12.3 s before them (with 2 of warm-up), ...".
std::string part_line(analyzed_part const& part);

struct advice_report {
  std::vector<std::string> heading;  // lines on what was captured, lost, and its cost
  std::vector<std::pair<std::string, std::uint64_t>> costs;  // {"cost.start_ns", 9800000}
  advice::bottleneck holds;
  std::optional<advice::roof_distance> roof;
  std::string roof_is_missing;  // what to record if the roof is not known
  double window_ns = 0;         // of one GPU; with several ranks the longest
  double all_windows_ns = 0;    // sum over all GPUs of all ranks
  double best_case_ns = 0;      // saved if all findings were fixed
  double min_gain = 0.01;       // share of the window: smaller findings are not shown
  ledger time;
  std::string whole = "run";          // what it is about: "steps", "step", "steady part"
  std::optional<analyzed_part> part;  // none: all of the run or phase, or several ranks
  advice::joined_advice advice;
  std::string step;                  // name of the steps that were replayed
  replay::step_paths paths;          // what holds these steps, by kind of work; JSON has them
  std::vector<captured_rank> ranks;  // empty: one capture
  std::vector<std::string> remarks;  // what limits the answer
};

/// Says how close the kernels are to the measured roofs. A share speaks for the program only if it
/// is known for 80 % of their time. Empty: there is nothing to say.
std::string roof_sentence(advice_report const& report);

struct advice_text_options {
  std::optional<ledger_lines> by;    // none: by GPU, or by rank for several captures
  std::optional<std::size_t> limit;  // number of findings, 0: all; none: ten, in a hundred lines
};

/// Ends after a hundred lines unless a limit is given.
void write_advice_text(advice_report const& report, advice_text_options const& options,
                       text::text_sink const& out, text::page const& on);
/// Writes at most 60 lines of Markdown; `by` has no effect.
void write_advice_markdown(advice_report const& report, advice_text_options const& options,
                           text::text_sink const& out);
/// Writes one object with "schema": "gpuprof-analyze-1".
void write_advice_json(advice_report const& report, text::text_sink const& out);
/// Makes a row for each finding, those below the threshold last. The report must outlive the table.
text::table advice_csv_table(advice_report const& report);

}  // namespace gpuprof::host::report

// SPDX-License-Identifier: Apache-2.0
// Makes the reports that compare the ranks of a job.
#pragma once

#include "ranks/capture_set.hpp"
#include "ranks/rank_digest.hpp"
#include "stats_reports.hpp"

#include <span>

namespace gpuprof::host::command {

/// Makes a report from a digest of each capture, in the same order. The digests must include what
/// the report needs.
finished_report report_over_ranks(chosen_report const& report,
                                  std::span<ranked_capture const> captures,
                                  std::span<rank_digest const> digests);

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
// Makes the report critical_path of `gpuprof stats`: replays the steps of a capture.
#pragma once

#include "host/reading/trace_contents.hpp"
#include "stats_reports.hpp"

namespace gpuprof::host::command {

/// Walks over the capture. The report says why if the steps cannot be replayed.
finished_report critical_path_report(trace_contents& trace, stats_inputs const& inputs);

}  // namespace gpuprof::host::command

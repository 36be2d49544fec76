// SPDX-License-Identifier: Apache-2.0
// The time ledger of a capture as lines that reports show.
#pragma once

#include "host/advice/facts.hpp"
#include "host/analysis/timeline/time_ledger.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/report/ledger_table.hpp"

#include <string>

namespace gpuprof {

/// `rank`: of several captures; else empty.
void add_gpus(report::ledger& to, advise::run_facts const& facts, std::string const& rank);
/// Some thousand at most; the ledger says how many more there are.
void add_ranges(report::ledger& to, time_ledger const& from, text_of_name const& text);
void add_steps(report::ledger& to, time_ledger const& from, advise::step_facts const& steps);

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// A finished report as a page holds it.
#pragma once

#include "stats_output.hpp"

#include <cstddef>
#include <string>

namespace gpuprof {

/// {"title", "rows": [...], "left_out", "notes": [...]} or {"title", "missing": "why"}.
std::string table_document(finished_report const& report, std::size_t max_rows);

}  // namespace gpuprof

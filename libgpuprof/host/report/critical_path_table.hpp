// SPDX-License-Identifier: Apache-2.0
// The critical path of a median and of the slowest steps, as a table.
#pragma once

#include "host/replay/step_paths.hpp"
#include "text/table.hpp"

namespace gpuprof::host::report {

/// Without steps, the table has no rows.
text::table critical_path_table(replay::step_paths const& of);

}  // namespace gpuprof::host::report

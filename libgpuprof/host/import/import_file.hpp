// SPDX-License-Identifier: Apache-2.0
// Turns a file of another profiler into captures.
#pragma once

#include "base/result.hpp"
#include "host/import/import_job.hpp"

namespace gpuprof::host {

/// What the file is, its first bytes tell. Nothing is left under the names of captures unless all
/// of them are written. What job.advance throws comes through.
result<import_outcome> import_file(import_job const& job);

}  // namespace gpuprof::host

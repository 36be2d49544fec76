// SPDX-License-Identifier: Apache-2.0
// Turns a file of another profiler into captures.
#pragma once

#include "base/result.hpp"
#include "host/import/import_job.hpp"

namespace gpuprof::host {

/// The first bytes of the file tell its type. Captures get their names only if all of them were
/// written. Exceptions of job.advance pass through.
result<import_outcome> import_file(import_job const& job);

}  // namespace gpuprof::host

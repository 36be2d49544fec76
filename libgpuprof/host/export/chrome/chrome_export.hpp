// SPDX-License-Identifier: Apache-2.0
// Chrome trace events in Kineto's schema, as torch.profiler writes them.
#pragma once

#include "host/export/export_job.hpp"

#include <string>

namespace gpuprof {

/// One file: gzip, or plain where its name ends in ".json".
result<export_notes> write_chrome(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof

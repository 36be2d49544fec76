// SPDX-License-Identifier: Apache-2.0
// A trace in Perfetto's own format.
#pragma once

#include "host/export/export_job.hpp"

#include <string>

namespace gpuprof {

/// One file; Perfetto's UI opens it as it is.
result<export_notes> write_perfetto(export_job& job, std::string const& path, bool overwrite);

}  // namespace gpuprof

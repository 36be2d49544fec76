// SPDX-License-Identifier: Apache-2.0
// Records what the loaded CUPTI reports: driver calls, resources, activity records.
#pragma once

#include "base/result.hpp"

namespace gpuprof::replay {

/// Loads libcupti and switches everything on that GPUPROF_RECORD_KINDS names (all when unset).
result<void> start_cupti();

/// Fetches the records that are still in CUPTI.
void finish_cupti();

}  // namespace gpuprof::replay

// SPDX-License-Identifier: Apache-2.0
// CUDA API calls as slices of their threads, with arrows to what they launched.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/gpu_event_ids.hpp"
#include "host/export/perfetto/tracks.hpp"

namespace gpuprof::perfetto {

void write_api_calls(packet_file& file, export_job& job, tracks& of, gpu_event_ids const& launched);

}  // namespace gpuprof::perfetto

// SPDX-License-Identifier: Apache-2.0
// Counters of the whole GPU, sampled every few microseconds, as tracks of the GPU.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/packet_file.hpp"

namespace gpuprof::perfetto {

/// Counts are written as rates, so that a value does not depend on the length of its interval, and
/// with a name of their own: Perfetto's compute tabs are for what was counted around one kernel.
void write_counter_samples(packet_file& file, export_job& job);

}  // namespace gpuprof::perfetto

// SPDX-License-Identifier: Apache-2.0
// Allocated memory over time, what unified memory moved, and waits: whatever a capture has of them.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/tracks.hpp"

namespace gpuprof::perfetto {

/// A counter for each kind of memory and device: what was allocated since the capture began.
void write_allocations(packet_file& file, export_job& job, tracks& of);
/// Transfers, faults and other counters of unified memory, as slices of the process.
void write_unified_memory(packet_file& file, export_job& job, tracks& of);
/// Waits of the CPU for streams, events and contexts, as slices of the process.
void write_synchronisation(packet_file& file, export_job& job, tracks& of);

}  // namespace gpuprof::perfetto

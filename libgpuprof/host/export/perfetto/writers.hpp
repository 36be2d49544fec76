// SPDX-License-Identifier: Apache-2.0
// The writers of a Perfetto trace: each adds one part of the capture. GPU work and counters have
// headers of their own.
#pragma once

#include "host/export/perfetto/gpu_work.hpp"

namespace gpuprof::host::perfetto {

/// Writes the identity of the trace, its clocks and GPUs.
void write_machine_facts(packet_file& file, export_job& job);

/// CUDA API calls as slices of their threads, with arrows to the work that they launched.
void write_api_calls(packet_file& file, export_job& job, tracks& of, gpu_event_ids const& launched);
/// NVTX ranges and marks. Each thread has one track per domain below it.
void write_nvtx_ranges(packet_file& file, export_job& job, tracks& of, export_notes& notes);
/// The Python frames of launches, calls and looks at threads. Each thread has one track for them.
void write_python(packet_file& file, export_job& job, tracks& of);

/// The critical paths of the median step and of the slowest, as tracks below the process.
void write_critical_path(packet_file& file, export_job& job, tracks& of);

/// Writes a slice of the process for each capture window. Otherwise a trace would end at its last
/// event, although recording went on.
void write_capture_windows(packet_file& file, export_job& job, tracks& of);
/// Transfers, faults and other counters of unified memory, as slices of the process.
void write_unified_memory(packet_file& file, export_job& job, tracks& of);
/// Waits of the CPU for streams, events and contexts, as slices of the process.
void write_synchronization(packet_file& file, export_job& job, tracks& of);

/// A counter for each kind of memory and device: the bytes allocated since the capture began.
void write_allocations(packet_file& file, export_job& job, tracks& of);
/// Power, clocks and temperature as counters of the process, one for each value and GPU. Each value
/// applies until the next.
void write_chip_states(packet_file& file, export_job& job, tracks& of);

}  // namespace gpuprof::host::perfetto

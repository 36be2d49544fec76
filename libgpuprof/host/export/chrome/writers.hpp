// SPDX-License-Identifier: Apache-2.0
// The writers of a Chrome trace: each adds one part of the capture. GPU work has a header of its
// own.
#pragma once

#include "host/export/chrome/event_writer.hpp"
#include "host/export/chrome/rows.hpp"
#include "host/export/export_job.hpp"

namespace gpuprof::host::chrome {

/// The earliest time in a capture, from which the times of an export can count. It is not later
/// than the start of the capture. Times of more than a day before are taken for damage: they would
/// cost all others their precision. 0: there is no time at all.
timestamp_ns first_moment(trace_contents& trace);

/// Up to the bracket that opens the events. `base`: the moment that their times count from.
void write_header(export_job& job, text_buffer& out, timestamp_ns base);
/// From the bracket that closes them. Only now it is known what the capture lacks.
void write_footer(export_job& job, text_buffer& out);

/// Calls, ranges and marks of all threads. Ranges are written when they end; what was still open
/// ends with the capture.
void write_threads(export_job& job, event_writer& to, quoted_names& names, cpu_rows& rows);

/// Sampled hardware counters. A value holds from the beginning of its interval; 0 where nothing was
/// sampled.
void write_samples(export_job& job, event_writer& to);
/// Power, clocks and temperature by NVML; a value holds until the next.
void write_chip_states(export_job& job, event_writer& to);
/// Bytes allocated since the capture began, so below 0 where older memory was released.
void write_memory(export_job& job, event_writer& to);

}  // namespace gpuprof::host::chrome

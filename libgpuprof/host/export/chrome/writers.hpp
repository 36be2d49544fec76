// SPDX-License-Identifier: Apache-2.0
// The writers of a Chrome trace. Each adds one part of the capture; gpu_events.hpp has the GPU
// work.
#pragma once

#include "host/export/chrome/event_writer.hpp"
#include "host/export/chrome/rows.hpp"
#include "host/export/export_job.hpp"

namespace gpuprof::host::chrome {

/// Returns the earliest time in a capture, from which the times of an export can count. It is not
/// later than the start of the capture. Times of more than a day before that count as damage,
/// because they would cost all others their precision. Returns 0 if the capture has no times.
timestamp_ns first_moment(trace_contents& trace);

/// Writes everything up to the bracket that opens the events. Their times count from `base`.
void write_header(export_job& job, text_buffer& out, timestamp_ns base);
/// Writes everything from the bracket that closes the events. What the capture lacks is known only
/// now.
void write_footer(export_job& job, text_buffer& out);

/// Writes calls, ranges and marks of all threads. Ranges are written when they end; ranges still
/// open end with the capture.
void write_threads(export_job& job, event_writer& to, quoted_names& names, cpu_rows& rows);

/// Writes the Python frames of the launches, calls and looks of each thread.
void write_python(export_job& job, event_writer& to, cpu_rows& rows);

/// Writes sampled hardware counters. A value applies from the beginning of its interval; 0 where
/// nothing was sampled.
void write_samples(export_job& job, event_writer& to);
/// Writes power, clocks and temperature from NVML. Each value applies until the next.
void write_chip_states(export_job& job, event_writer& to);
/// Writes bytes allocated since the capture began. The value is negative if older memory was
/// released.
void write_memory(export_job& job, event_writer& to);

}  // namespace gpuprof::host::chrome

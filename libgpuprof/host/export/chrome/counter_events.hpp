// SPDX-License-Identifier: Apache-2.0
// What was measured over time: sampled hardware counters, power and clocks, allocated memory.
#pragma once

#include "host/export/chrome/event_writer.hpp"
#include "host/export/export_job.hpp"

namespace gpuprof::chrome {

/// A value holds from the beginning of its interval; 0 where nothing was sampled.
void write_samples(export_job& job, event_writer& to);

/// Power, clocks and temperature by NVML; a value holds until the next.
void write_chip_states(export_job& job, event_writer& to);

/// Bytes allocated since the capture began, so below 0 where older memory was released.
void write_memory(export_job& job, event_writer& to);

}  // namespace gpuprof::chrome

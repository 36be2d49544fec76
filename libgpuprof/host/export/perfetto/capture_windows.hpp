// SPDX-License-Identifier: Apache-2.0
// When the capture was on: a slice of the process for each window.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/tracks.hpp"

namespace gpuprof::perfetto {

/// A trace ends where its last event is, unless something tells that recording went on.
void write_capture_windows(packet_file& file, export_job& job, tracks& of);

}  // namespace gpuprof::perfetto

// SPDX-License-Identifier: Apache-2.0
// What stands before and after the events of a trace: whose they are.
#pragma once

#include "host/export/chrome/text_output.hpp"
#include "host/export/export_job.hpp"

namespace gpuprof::chrome {

/// Up to the bracket that opens the events. `base`: the moment that their times count from.
void write_header(export_job& job, text_buffer& out, timestamp_ns base);

/// From the bracket that closes them. Only now it is known what the capture lacks.
void write_footer(export_job& job, text_buffer& out);

}  // namespace gpuprof::chrome

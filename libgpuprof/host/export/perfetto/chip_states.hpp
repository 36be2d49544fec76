// SPDX-License-Identifier: Apache-2.0
// Power, clocks and temperature of each GPU over time.
#pragma once

#include "host/export/perfetto/tracks.hpp"

namespace gpuprof::perfetto {

/// A counter of the process for each figure and GPU; a value holds until the next.
void write_chip_states(packet_file& file, export_job& job, tracks& of);

}  // namespace gpuprof::perfetto

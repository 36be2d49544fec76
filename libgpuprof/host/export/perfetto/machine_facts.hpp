// SPDX-License-Identifier: Apache-2.0
// What a trace says about itself: its identity, clocks, GPUs.
#pragma once

#include "host/export/export_job.hpp"
#include "host/export/perfetto/packet_file.hpp"

namespace gpuprof::perfetto {

void write_machine_facts(packet_file& file, export_job& job);

}  // namespace gpuprof::perfetto

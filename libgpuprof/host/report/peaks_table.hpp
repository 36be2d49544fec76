// SPDX-License-Identifier: Apache-2.0
// Measured peaks as text with bars relative to theory, side by side for several GPUs, or as rows
// for CSV.
#pragma once

#include "model/peaks.hpp"
#include "text/table.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::report {

struct peaks_layout {
  std::size_t width = 120;          // bars shrink first; longer lines still exceed it
  bool blocks = true;               // draw bars with Unicode blocks, else with #
  std::vector<std::string> labels;  // labels of several GPUs; if missing: "GPU 0"
};

/// Writes what each GPU is and what affects its values. Then follows one GPU in full, or the bursts
/// of several GPUs side by side with their spread.
void write_peaks(std::span<gpu_peaks const> gpus, peaks_layout const& layout,
                 text::text_sink const& out);

/// Makes one row per GPU and test with every field. Columns have the names of the JSON members.
/// Borrows `gpus`.
text::table peaks_table(std::span<gpu_peaks const> gpus);

}  // namespace gpuprof::host::report

// SPDX-License-Identifier: Apache-2.0
// Measured peaks for a reader: text with bars against theory, GPUs side by side, rows for CSV.
#pragma once

#include "model/peaks.hpp"
#include "text/table.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof::host::report {

struct peaks_layout {
  std::size_t width = 120;          // bars give way first; what is longer still goes beyond
  bool blocks = true;               // bars of Unicode blocks, else of #
  std::vector<std::string> labels;  // of the GPUs when there are several; missing ones: "GPU 0"
};

/// What each GPU is and what its figures suffer from; then one GPU in full, or the bursts of
/// several beside each other with the spread between them.
void write_peaks(std::span<gpu_peaks const> gpus, peaks_layout const& layout,
                 text::text_sink const& out);

/// One row a GPU and test with every field, columns named as in the JSON. Borrows `gpus`.
text::table peaks_table(std::span<gpu_peaks const> gpus);

}  // namespace gpuprof::host::report

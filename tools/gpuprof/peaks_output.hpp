// SPDX-License-Identifier: Apache-2.0
// Writes peaks as text, CSV, TSV or JSON, and the list of tests.
#pragma once

#include "model/peaks.hpp"
#include "output_file.hpp"
#include "report_format.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof {

/// `labels`: of the GPUs when there are several.
void write_peaks(std::span<gpu_peaks const> gpus, std::vector<std::string> labels,
                 report_format format, output_file const& out);

void write_test_list(report_format format, output_file const& out);

}  // namespace gpuprof

// Prints peaks as text, CSV or JSON, and the list of tests.
#pragma once

#include "base/result.hpp"
#include "model/peaks.hpp"

#include <span>
#include <string>
#include <vector>

namespace gpuprof {

enum class peaks_format { text, csv, json };

/// `labels`: of the GPUs when there are several.
result<void> print_peaks(std::span<gpu_peaks const> gpus, std::vector<std::string> labels,
                         peaks_format format);

result<void> print_test_list(peaks_format format);

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// The same tests of several GPUs beside each other.
#pragma once

#include "host/report/peaks_groups.hpp"
#include "text/table.hpp"

#include <span>
#include <string>

namespace gpuprof::report {

/// A column of bursts for each GPU and one for the spread between them: (greatest - least) /
/// median. GPUs that do not fit beside the others go on below.
void write_comparison(peak_group const& group, std::span<std::string const> labels,
                      std::size_t width, text_sink const& out);

}  // namespace gpuprof::report

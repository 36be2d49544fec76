// SPDX-License-Identifier: Apache-2.0
// Figures of kernels as the sentences of findings show them; rules/words.hpp has times and shares.
#pragma once

#include "model/records.hpp"

#include <string>

namespace gpuprof::advise {

std::string as_figure(double value);  // three digits: "0.234", "132", "1.01"
std::string as_rate(double per_second, std::string const& unit);  // "1.51 TB/s" of "B/s"
/// "132", "16 x 8", "16 x 8 x 4".
std::string as_text(extent3 extent);

}  // namespace gpuprof::advise

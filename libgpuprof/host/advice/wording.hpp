// SPDX-License-Identifier: Apache-2.0
// Formats numbers, times and shares for the sentences of findings.
#pragma once

#include "model/records.hpp"

#include <cstdint>
#include <string>

namespace gpuprof::host::advice {

std::string as_figure(double value);  // three digits: "0.234", "132", "1.01"
std::string as_rate(double per_second, std::string const& unit);  // "1.51 TB/s" for the unit "B/s"
/// "132", "16 x 8", "16 x 8 x 4".
std::string as_text(extent3 extent);

std::string in_time(double ns);              // "3.2 ms", "850 us", "12 s"
std::string in_data(double bytes);           // "196 MB"
std::string in_rate(double bytes_a_second);  // "17 GB/s"
std::string in_percent(double share);        // "12 %"
std::string in_count(double count);          // "1234"
/// "3 times", "once".
std::string in_times(std::uint64_t count);

}  // namespace gpuprof::host::advice

// SPDX-License-Identifier: Apache-2.0
// Figures as findings write them.
#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::advise {

std::string in_time(double ns);              // "3.2 ms", "850 us", "12 s"
std::string in_rate(double bytes_a_second);  // "17 GB/s"
std::string in_percent(double share);        // "12 %"
std::string in_count(double count);          // "1234"
/// "3 times", "once".
std::string in_times(std::uint64_t count);

}  // namespace gpuprof::advise

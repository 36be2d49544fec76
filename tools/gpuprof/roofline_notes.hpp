// What a reader of a roofline must know about its numbers.
#pragma once

#include "roofline_reading.hpp"

#include <string>
#include <vector>

namespace gpuprof {

/// What is missing or lost first.
std::vector<std::string> roofline_notes(trace_contents const& trace, roofline_reading const& read,
                                        roofline const& roofs, bool has_peaks);

}  // namespace gpuprof

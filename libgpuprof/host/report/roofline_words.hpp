// SPDX-License-Identifier: Apache-2.0
// The words and colors of the roofline chart: how kernels, bounds and rates are shown.
#pragma once

#include "host/analysis/roofline.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuprof::host::report {

/// On one line, and only so much of it: what tells kernels apart comes first.
std::string beginning_of(std::string_view name, std::size_t characters);

/// The name of a kernel without return type, parameters and namespaces, as far as there is room,
/// and its share of the time.
std::string label_of(roofline_row const& line);

/// As SVG takes it: "#0b6fb8".
char const* color_of(bound_by const& bound) noexcept;
/// "tensor cores", "DRAM": bounds of one color have one word.
std::string legend_of(bound_by const& bound);

/// "957 TFLOP/s", "4.63 TB/s"
std::string rate_text(double flops);
std::string byte_rate_text(double bytes);

}  // namespace gpuprof::host::report

// SPDX-License-Identifier: Apache-2.0
// What must be known to trust a roofline, gathered from the capture and what was read of it.
#pragma once

#include "roofline_of_capture.hpp"

#include <optional>

namespace gpuprof::host::command {

/// `device`: the one whose roofs are meant; nothing: the first that has any. Refers to `read`.
report::roofline_facts facts_of(trace_contents& trace, roofline_reading const& read,
                                roofline const& roofs, std::optional<std::uint32_t> device,
                                moments const& peaks);

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
// Attaches NVTX's extended payloads to events: declared work as numbers, everything else as JSON
// text.
#pragma once

#include "guest/nvtx/ranges.hpp"

#include <cstddef>
#include <cstdint>

struct nvtxPayloadData_v1;

namespace gpuprof::guest {

class payload_schemas;

/// The schema id with which gpuprof::scoped_range sends {double flops, double bytes}. Equal to the
/// one in gpuprof.hpp.
inline constexpr std::uint64_t declared_work_schema = 0x67707701;

/// The schemas that programs have registered; never destroyed.
payload_schemas& registered_schemas() noexcept;

/// Fills in `text`. Payloads other than declared work are read only while recording or watched.
/// They lie in the program's memory, which may be freed later. If the event has no name, a message
/// among the payloads becomes its name.
void read_extended_payload(thread_log& log, event_text& text, nvtxPayloadData_v1 const* payloads,
                           std::size_t count) noexcept;

}  // namespace gpuprof::guest

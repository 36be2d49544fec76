// SPDX-License-Identifier: Apache-2.0
// Attaches NVTX's extended payloads to events: declared work as numbers, all else as a JSON text.
#pragma once

#include "guest/nvtx/ranges.hpp"

#include <cstddef>
#include <cstdint>

struct nvtxPayloadData_v1;

namespace gpuprof::guest {

class payload_schemas;

/// The schema id under which gpuprof::scoped_range sends {double flops, double bytes}; equal to the
/// one in gpuprof.hpp.
inline constexpr std::uint64_t declared_work_schema = 0x67707701;

/// The schemas programs have registered; never destroyed.
payload_schemas& registered_schemas() noexcept;

/// Fills in `text`. A payload that is no declared work is read only while recording or watched: the
/// memory it lies in is the program's, and may be gone later. A message among the payloads names an
/// event that has no name.
void read_extended_payload(thread_log& log, event_text& text, nvtxPayloadData_v1 const* payloads,
                           std::size_t count) noexcept;

}  // namespace gpuprof::guest

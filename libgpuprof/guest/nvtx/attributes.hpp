// SPDX-License-Identifier: Apache-2.0
// Reads nvtxEventAttributes_t, of whatever version and size the program was built with.
#pragma once

#include "guest/nvtx/ranges.hpp"

struct nvtxEventAttributes_v2;

namespace gpuprof {

/// `attributes` may be null: an event without a name.
event_text read_attributes(thread_log& log, name_id domain,
                           nvtxEventAttributes_v2 const* attributes) noexcept;

}  // namespace gpuprof

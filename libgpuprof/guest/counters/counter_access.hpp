// SPDX-License-Identifier: Apache-2.0
// Whether this process may read the counters of a GPU, and which of them there are.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/guard.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <vector>

namespace gpuprof::guest {

/// Makes CUPTI ready for counters; harmless when repeated. It is never undone: that is not counted,
/// and would end the counting of others in this process. The error is one line: what forbids it
/// (rights, MIG, virtual GPU, ...) and what helps.
result<void> open_counters(cupti_api const& api, counter_engine engine, int device);

/// The counter availability image of the context's GPU as it is set up. Fails first where rights
/// are missing.
result<std::vector<std::uint8_t>> counter_availability(cupti_api const& api, CUcontext context);

/// The same for sampling; nothing may be counted on the GPU while this is asked: `busy` then.
result<std::vector<std::uint8_t>> sampling_availability(cupti_api const& api, device_id device,
                                                        bool& busy);

/// The line for a call that failed: who may hold the counters, what rights are needed.
error counters_refused(cupti_api const& api, counter_engine engine, CUptiResult code,
                       std::string const& message);

/// "counters are off: ", or what it is for sampling alone.
std::string is_off(counter_engine engine);
/// The line for a GPU whose counters another process of ours has, by device_turns::holder().
error held_by_process(counter_engine engine, std::string const& holder);
/// Of a refusal of these two kinds: it may end.
bool is_held_by_another(std::string_view refusal) noexcept;

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Checks whether this process may read the counters of a GPU, and which counters there are.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/guard.hpp"
#include "guest/metrics/planning/host_profiler.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <vector>

namespace gpuprof::guest {

/// Prepares CUPTI for counters; harmless when repeated. It is never undone, because CUPTI does not
/// count the calls: undoing it would stop other users of counters in this process. The error is one
/// line: what forbids it (permissions, MIG, virtual GPU, ...) and what helps.
result<void> open_counters(cupti_api const& api, counter_engine engine, int device);

/// Returns the counter availability image of the context's GPU as it is configured. Fails early if
/// permissions are missing.
result<std::vector<std::uint8_t>> counter_availability(cupti_api const& api, CUcontext context);

/// The same for sampling. Fails with `busy` if something else counts on the GPU at that time.
result<std::vector<std::uint8_t>> sampling_availability(cupti_api const& api, device_id device,
                                                        bool& busy);

/// Returns the warning for a call that failed: which tools may hold the counters, which permissions
/// are needed.
error counters_refused(cupti_api const& api, counter_engine engine, CUptiResult code,
                       std::string const& message);

/// Returns "counters are off: ", or the corresponding text if only sampling is off.
std::string is_off(counter_engine engine);
/// Returns the warning for a GPU whose counters another gpuprof process holds. `holder`: see
/// device_turns::holder().
error held_by_process(counter_engine engine, std::string const& holder);
/// True if the refusal is from another holder of the counters (see the two functions above): it may
/// end.
bool is_held_by_another(std::string_view refusal) noexcept;

}  // namespace gpuprof::guest

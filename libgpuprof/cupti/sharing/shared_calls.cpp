// SPDX-License-Identifier: Apache-2.0
// The part of shared_cupti that sees to single calls of the runtime and the driver: CUPTI has one
// switch for each, two clients may want it.
#include "cupti/sharing/shared_cupti.hpp"

namespace gpuprof {
namespace {

CUptiResult switch_in(cupti_api const& api, CUpti_ActivityKind kind, CUpti_CallbackId id, bool on) {
  auto const switch_one = kind == CUPTI_ACTIVITY_KIND_RUNTIME ? api.cuptiActivityEnableRuntimeApi
                                                              : api.cuptiActivityEnableDriverApi;
  return switch_one != nullptr ? switch_one(id, on ? 1 : 0) : CUPTI_ERROR_NOT_SUPPORTED;
}

}  // namespace

bool shared_cupti::wants_call(cupti_client who, CUpti_ActivityKind kind,
                              CUpti_CallbackId id) const noexcept {
  auto const& client = of(who);
  return client.calls.is_on(kind, id) ||
         (client.records.has(kind) && !client.calls.is_off(kind, id));
}

// Whoever switches off looks again afterwards, as with kinds.
CUptiResult shared_cupti::enable_call(cupti_client who, CUpti_ActivityKind kind,
                                      CUpti_CallbackId id, std::uint8_t on) {
  auto const& api = real_.api;
  if (!enabled_calls::knows(kind, id)) return switch_in(api, kind, id, on != 0);
  auto& mine = of(who).calls;
  auto const other = other_than(who);
  mine.set(kind, id, on != 0);
  if (on != 0) return switch_in(api, kind, id, true);
  if (wants_call(other, kind, id)) return CUPTI_SUCCESS;
  auto const code = switch_in(api, kind, id, false);
  if (wants_call(other, kind, id)) (void)switch_in(api, kind, id, true);
  return code;
}

/// CUPTI has switched a whole kind off: the single calls that the other wants with it.
void shared_cupti::switch_calls_on_again(cupti_client who, CUpti_ActivityKind kind) noexcept {
  if (!enabled_calls::is_of_calls(kind)) return;
  of(who).calls.for_each_on(
      kind, [&](CUpti_CallbackId id) { (void)switch_in(real_.api, kind, id, true); });
}

void shared_cupti::switch_calls_off(cupti_client who) noexcept {
  for (auto const kind : {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME})
    of(who).calls.for_each_on(kind,
                              [&](CUpti_CallbackId id) { (void)enable_call(who, kind, id, 0); });
}

}  // namespace gpuprof

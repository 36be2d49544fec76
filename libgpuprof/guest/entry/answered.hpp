// SPDX-License-Identifier: Apache-2.0
// How functions of the C API return a status, and leave the reason to gpuprof_last_message().
#pragma once

#include <gpuprof/gpuprof.h>

#include "base/last_message.hpp"
#include "guest/entry/guarded.hpp"
#include "guest/session/api_outcome.hpp"
#include "guest/session/inert_child.hpp"

namespace gpuprof::guest {

/// `why` lives as long as the process.
inline gpuprof_status refused(gpuprof_status status, char const* why) noexcept {
  keep_fixed_message(why);
  return status;
}

inline gpuprof_status status_of(api_outcome const& outcome) noexcept {
  if (outcome.what == api_outcome::kind::done) return GPUPROF_OK;
  keep_message(outcome.why);
  return outcome.what == api_outcome::kind::late ? GPUPROF_TIMEOUT : GPUPROF_INACTIVE;
}

/// The status that `act` returns; GPUPROF_INACTIVE when it threw, or where nothing of ours may run.
template <class Act>
gpuprof_status answered(Act&& act) noexcept {
  keep_fixed_message("");
  if (has_rights_of_others())
    return refused(GPUPROF_INACTIVE,
                   "nothing is profiled: this program has rights that its user does not have "
                   "(set-user-ID or file capabilities)");
  if (is_forked_child()) {
    keep_message(inert_child_line().text());
    return GPUPROF_INACTIVE;
  }
  return attempted(GPUPROF_INACTIVE, std::forward<Act>(act),
                   [](char const* why) { keep_message(why); });
}

}  // namespace gpuprof::guest

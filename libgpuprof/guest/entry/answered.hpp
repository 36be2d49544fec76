// SPDX-License-Identifier: Apache-2.0
// How functions of the C API answer: with a status, whose reason is left to gpuprof_last_message(),
// and with structs as a list of pointers that stay where they are.
#pragma once

#include <gpuprof/gpuprof.h>

#include "base/last_message.hpp"
#include "guest/entry/guarded.hpp"
#include "guest/session/api_outcome.hpp"
#include "guest/session/inert_child.hpp"

#include <deque>
#include <utility>
#include <vector>

namespace gpuprof::guest {

/// `why` must live as long as the process.
inline gpuprof_status refused(gpuprof_status status, char const* why) noexcept {
  keep_fixed_message(why);
  return status;
}

inline gpuprof_status status_of(api_outcome const& outcome) noexcept {
  if (outcome.what == api_outcome::kind::done) return GPUPROF_OK;
  keep_message(outcome.why);
  return outcome.what == api_outcome::kind::late ? GPUPROF_TIMEOUT : GPUPROF_INACTIVE;
}

/// Returns the status of `act`, or GPUPROF_INACTIVE if it threw or nothing of ours may run here.
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

// A list of pointers to structs for the program; the structs keep their addresses.

template <class Struct>
class listed {
 public:
  /// Where it stays.
  Struct& add(Struct made) {
    auto& kept = kept_.emplace_back(std::move(made));
    pointers_.push_back(&kept);
    return kept;
  }
  Struct const* const* data() const noexcept { return pointers_.data(); }
  std::size_t size() const noexcept { return pointers_.size(); }

 private:
  std::deque<Struct> kept_;
  std::vector<Struct const*> pointers_;
};

}  // namespace gpuprof::guest

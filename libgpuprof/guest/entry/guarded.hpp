// SPDX-License-Identifier: Apache-2.0
// Stops exceptions at a C boundary, and keeps a thread that has crossed it from being canceled.
#pragma once

#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/process.hpp"

#include <array>
#include <cstdio>
#include <exception>

namespace gpuprof::guest {

/// Returns the result of `act`, or `otherwise` if it threw. `failed` gets a line on what was
/// thrown; only the first such line is logged.
template <class Act, class Value, class Failed>
Value attempted(Value otherwise, Act&& act, Failed&& failed) noexcept {
  no_cancellation const here;
  own_arithmetic const exact;
  try {
    return act();
  } catch (std::exception const& e) {
    static std::atomic<bool> said{false};
    std::array<char, 512> line;
    std::snprintf(line.data(), line.size(),
                  "an internal step failed: %s. The program is not affected; the capture may be "
                  "incomplete.",
                  e.what());
    if (first_time(said)) log_error(line.data());
    failed(line.data());
  } catch (...) {
    failed("an internal step failed for a reason unknown");
  }
  return otherwise;
}

/// The same, but also returns `otherwise` where nothing of ours may run: in inert children, and in
/// programs with rights that their user does not have, because there we would use these rights to
/// read files named by the environment and to write files.
template <class Act, class Value>
Value guarded(Value otherwise, Act&& act) noexcept {
  if (is_forked_child() || has_rights_of_others()) return otherwise;
  return attempted(otherwise, std::forward<Act>(act), [](char const*) {});
}

}  // namespace gpuprof::guest

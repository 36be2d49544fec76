// SPDX-License-Identifier: Apache-2.0
// Keeps every exception on our side of a C boundary, and the thread alive that has crossed it.
#pragma once

#include "base/log.hpp"
#include "base/no_cancellation.hpp"
#include "base/own_arithmetic.hpp"
#include "base/process.hpp"

#include <array>
#include <cstdio>
#include <exception>

namespace gpuprof::guest {

/// What `act` returns, or `otherwise` when it threw. `failed` gets the line that says what was
/// thrown; only the first is logged.
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

/// The same; `otherwise` also where nothing of ours may run: in inert children, and in programs
/// with rights that their user does not have, which would read files that the environment names,
/// and write files, with these rights.
template <class Act, class Value>
Value guarded(Value otherwise, Act&& act) noexcept {
  if (is_forked_child() || has_rights_of_others()) return otherwise;
  return attempted(otherwise, std::forward<Act>(act), [](char const*) {});
}

}  // namespace gpuprof::guest

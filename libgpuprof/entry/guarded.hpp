// Keeps every exception on our side of a C boundary.
#pragma once

#include "base/log.hpp"
#include "base/process.hpp"

#include <exception>
#include <string>

namespace gpuprof {

/// What `act` returns, or `otherwise` when it threw or when this is a forked child, where nothing
/// of ours may run.
template <class Act, class Value>
Value guarded(Value otherwise, Act&& act) noexcept {
  if (is_forked_child()) return otherwise;
  try {
    return act();
  } catch (std::exception const& e) {
    static std::atomic<bool> said{false};
    if (first_time(said)) {
      try {
        log_error(std::string("an internal step failed: ") + e.what() +
                  ". The program is not affected; the capture may be incomplete.");
      } catch (...) {
      }
    }
  } catch (...) {
  }
  return otherwise;
}

}  // namespace gpuprof

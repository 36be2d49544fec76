// SPDX-License-Identifier: Apache-2.0
// Ends the process with a clear message when a client breaks CUPTI's rules.
#pragma once

#include "replay/driver/canceled_thread.hpp"

#include <string>

namespace gpuprof::replay {

/// Prints "replay libcupti: the client broke the contract: ..." and aborts: the real library would
/// hang, crash or lose records at this point, sometimes.
[[noreturn]] void broken(std::string const& what) noexcept;

/// What this thread is doing for CUPTI right now; set while a client's function runs.
struct callback_state {
  bool in_buffer_callback = false;
  bool in_api_callback = false;    // driver or runtime domain
  bool in_other_callback = false;  // resource, state
};
callback_state& here() noexcept;

/// Sets a flag of here() for the length of a scope.
class inside {
 public:
  explicit inside(bool& flag) noexcept : flag_(flag), before_(flag) { flag_ = true; }
  ~inside() { flag_ = before_; }
  inside(inside const&) = delete;
  inside& operator=(inside const&) = delete;

 private:
  bool& flag_;
  bool const before_;
};

/// Calls a function of the client; an exception that leaves it breaks the contract.
template <class Call>
void call_client(char const* which, Call&& call) noexcept {
  try {
    canceled_thread const now;
    call();
  } catch (...) {
    broken(std::string("an exception left its ") + which);
  }
}

}  // namespace gpuprof::replay

// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/entry.hpp"

#include "replay/cupti/contract.hpp"
#include "replay/cupti/faults.hpp"
#include "replay/cupti/library.hpp"

#include <atomic>
#include <string>
#include <unistd.h>

namespace gpuprof::replay {
namespace {

// The one that has begun to use the library; 0: none. A child of a parent that has only loaded it,
// as Python does with torch, uses it as if it were alone.
constinit std::atomic<pid_t> first_user{0};

}  // namespace

CUptiResult enter(char const* function) {
  pid_t user = 0;
  if (!first_user.compare_exchange_strong(user, getpid()) && user != getpid()) {
    broken(std::string(function) + " was called in a forked child; the real library hangs there");
  }
  return faults::get().for_call(function);
}

CUptiResult enter_with_driver(char const* function) {
  if (auto const code = enter(function); code != CUPTI_SUCCESS) return code;
  return library::get().attach_to_driver() ? CUPTI_SUCCESS : CUPTI_ERROR_UNKNOWN;
}

void not_inside_buffer_callback(char const* function) {
  if (here().in_buffer_callback) {
    broken(std::string(function) + " was called from inside a buffer callback");
  }
}

void not_inside_other_callback(char const* function) {
  if (here().in_other_callback && !here().in_api_callback) {
    broken(std::string(function) + " was called from inside a resource or state callback");
  }
}

}  // namespace gpuprof::replay

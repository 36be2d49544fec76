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

// 0: not noted yet. Other libraries may be loaded before, and have threads.
constinit std::atomic<pid_t> process_at_load{0};
[[maybe_unused]] bool const noted = (process_at_load = getpid(), true);

}  // namespace

CUptiResult enter(char const* function) {
  auto const loaded_by = process_at_load.load();
  if (loaded_by != 0 && getpid() != loaded_by) {
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

#include "replay/cupti/entry.hpp"

#include "replay/cupti/contract.hpp"
#include "replay/cupti/faults.hpp"
#include "replay/cupti/library.hpp"

#include <string>
#include <unistd.h>

namespace gpuprof::replay {
namespace {

pid_t const process_at_load = getpid();

}  // namespace

CUptiResult enter(char const* function) {
  if (getpid() != process_at_load) {
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

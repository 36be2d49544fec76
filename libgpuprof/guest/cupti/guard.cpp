// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/guard.hpp"

#include "base/log.hpp"

namespace gpuprof::guest {
namespace {

/// Explains a code for users; empty if CUPTI's own text is clear enough.
char const* advice(CUptiResult code) noexcept {
  switch (code) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
      return "CUPTI is held by another tool";
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_UNKNOWN:
      return "there is no usable GPU driver";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "this user may not read GPU performance counters";
    case CUPTI_ERROR_NOT_SUPPORTED:
      return "this GPU or driver does not support it";
    default:
      return "";
  }
}

}  // namespace

std::string describe(cupti_api const& api, CUptiResult code) {
  char const* text = nullptr;
  if (api.cuptiGetResultString != nullptr) api.cuptiGetResultString(code, &text);
  auto line =
      std::string(text != nullptr ? text : "CUPTI error") + " (" + std::to_string(code) + ")";
  if (*advice(code) != '\0') line = std::string(advice(code)) + ": " + line;
  return line;
}

error cupti_guard::absent(char const* function) {
  return {std::string(function).append(" is not in this libcupti")};
}

error cupti_guard::failed(char const* function, CUptiResult code) const {
  return {std::string(function).append(" failed, ").append(describe(*api_, code))};
}

void cupti_guard::note_failure(char const* function, CUptiResult code) const noexcept {
  try {
    log_debug(std::string(function) + ": " + describe(*api_, code));
  } catch (...) {
  }
}

void undo_stack::undo_all() noexcept {
  while (!steps_.empty()) {
    auto const step = std::move(steps_.back());
    steps_.pop_back();
    try {
      step();
    } catch (...) {
      log_debug("an undo step failed");
    }
  }
}

}  // namespace gpuprof::guest

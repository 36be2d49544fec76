// SPDX-License-Identifier: Apache-2.0
// Calls CUPTI through the table and turns a failure into one clear line for the caller.
#pragma once

#include "base/result.hpp"
#include "guest/cupti/api.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// The name of a table member, for messages.
template <auto Member>
inline constexpr char const* cupti_function_name = "?";
#define GPUPROF_NAME(function) \
  template <>                  \
  inline constexpr char const* cupti_function_name<&cupti_api::function> = #function;
GPUPROF_CUPTI_FUNCTIONS(GPUPROF_NAME)
#undef GPUPROF_NAME

/// Returns the reason for a CUptiResult, in words that a user can act on.
std::string describe(cupti_api const& api, CUptiResult code);

/// Any thread; holds no lock.
class cupti_guard {
 public:
  explicit cupti_guard(cupti_api const& api) noexcept : api_(&api) {}

  cupti_api const& api() const noexcept { return *api_; }

  /// Calls the function; the error says which function failed and why.
  template <auto Member, class... Args>
  result<void> call(Args... args) const {
    CUptiResult code{};
    return call_for_code<Member>(code, args...);
  }

  /// For callers that act on the code itself.
  template <auto Member, class... Args>
  result<void> call_for_code(CUptiResult& code, Args... args) const {
    auto const function = api_->*Member;
    auto const* const name = cupti_function_name<Member>;
    code = CUPTI_ERROR_NOT_SUPPORTED;
    if (function == nullptr) return absent(name);
    code = function(args...);
    if (code == CUPTI_SUCCESS) return {};
    return failed(name, code);
  }

  /// The same for calls whose failure does not matter to the user: it is only logged, at debug
  /// level.
  template <auto Member, class... Args>
  bool try_call(Args... args) const noexcept {
    auto const function = api_->*Member;
    if (function == nullptr) return false;
    auto const code = function(args...);
    if (code != CUPTI_SUCCESS) note_failure(cupti_function_name<Member>, code);
    return code == CUPTI_SUCCESS;
  }

 private:
  static error absent(char const* function);
  error failed(char const* function, CUptiResult code) const;
  void note_failure(char const* function, CUptiResult code) const noexcept;

  cupti_api const* api_;
};

/// Undoes what a feature has set up so far, last step first: on failure, and when the feature ends.
class undo_stack {
 public:
  undo_stack() = default;
  undo_stack(undo_stack const&) = delete;
  undo_stack& operator=(undo_stack const&) = delete;

  void push(std::function<void()> step) { steps_.push_back(std::move(step)); }
  void undo_all() noexcept;
  /// Call it if what was set up no longer exists.
  void forget_all() noexcept { steps_.clear(); }
  bool empty() const noexcept { return steps_.empty(); }

 private:
  std::vector<std::function<void()>> steps_;
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// A value, or a one-line reason for its absence.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace gpuprof {

/// Says what was tried, what came back, what is lost and what to do, in one line without a final
/// full stop.
struct error {
  std::string message;
};

template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  result(error reason) : state_(std::in_place_index<1>, std::move(reason)) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  T const& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  T const* operator->() const noexcept { return std::get_if<0>(&state_); }
  /// Call it only if there is no value.
  std::string const& message() const noexcept { return std::get_if<1>(&state_)->message; }

 private:
  std::variant<T, error> state_;
};

/// Success, or the reason for failure.
template <>
class [[nodiscard]] result<void> {
 public:
  result() = default;
  result(error reason) : message_(std::move(reason.message)), ok_(false) {}

  explicit operator bool() const noexcept { return ok_; }
  std::string const& message() const noexcept { return message_; }

 private:
  std::string message_;
  bool ok_ = true;
};

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// Answers one question about a kernel name at a time, on a thread of its own.
#pragma once

#include "model/kernel_patterns.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <string_view>

namespace gpuprof::guest {

/// Demangling and matching allocate and want tens of kB of stack. A launch callback runs on a stack
/// of the program's choosing, perhaps with 16 KiB of it: there it only hands the name over and
/// waits for the answer, once for each name.
class name_matcher {
 public:
  using question = std::function<bool(std::string_view)>;
  static constexpr std::size_t max_name = kernel_patterns::max_name;
  /// Matching takes microseconds. Only what the caller holds, such as the lock of the loader, can
  /// make it wait for the caller, and then an answer is not worth a standstill.
  static constexpr std::chrono::milliseconds patience{1000};

  explicit name_matcher(question does_match);
  ~name_matcher();
  name_matcher(name_matcher const&) = delete;
  name_matcher& operator=(name_matcher const&) = delete;

  /// Any thread. Allocates nothing. Empty when there is no thread to ask, as in a forked child, or
  /// when it does not answer in time. Only the first `max_name` bytes are looked at.
  std::optional<bool> ask(std::string_view name) noexcept;

 private:
  enum class state { idle, asked, answered, nobody_waits };
  static void* run(void* self) noexcept;
  void answer_questions() noexcept;

  question const does_match_;
  std::mutex mutex_;  // protects all below
  std::condition_variable asked_, answered_, idle_;
  state state_ = state::idle;
  bool stop_ = false;
  std::optional<bool> answer_;
  std::size_t length_ = 0;
  std::array<char, max_name> name_;

  bool has_thread_ = false;  // set in the constructor alone, as the next
  pthread_t thread_{};
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Holds kernel names and launch order against what the user asked for.
#pragma once

#include "base/result.hpp"
#include "guest/options/settings.hpp"
#include "model/kernel_patterns.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

// Answers one question about a kernel name at a time, on a thread of its own.

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

/// A name matches when any pattern matches the mangled name, the demangled one or the base name
/// (without namespaces, template arguments and parameters). Plain patterns must be the whole name;
/// regular expressions (ECMAScript without back references) may be found anywhere. Of names longer
/// than name_matcher::max_name the beginning counts.
class kernel_filter {
 public:
  static result<std::unique_ptr<kernel_filter>> make(settings const&);
  /// Names alone, such as those of --metrics-skip: every launch of theirs is selected. An empty
  /// list selects all: ask has_names() first.
  static result<std::unique_ptr<kernel_filter>> make(std::vector<kernel_pattern> const& names);
  ~kernel_filter();

  /// Neither names nor counts are limited.
  bool passes_all() const noexcept { return patterns_.empty() && skip_ == 0 && count_ == 0; }
  bool has_names() const noexcept { return !patterns_.empty(); }

  /// A thread of ours, since it allocates and takes tens of kB of stack. Costs a demangling:
  /// remember the answer.
  bool name_matches(std::string_view mangled) const;

  /// Any thread, inside the launch callback: name by pointer, then --launch-skip and
  /// --launch-count over the matching launches in the order in which they end. A look into a table
  /// without locks; the first launch of a name waits for name_matcher.
  bool selects_launch(char const* mangled) noexcept;

 private:
  kernel_filter(std::uint64_t skip, std::uint64_t count);
  std::string add_names(std::vector<kernel_pattern> const&);  // what is wrong; empty: nothing
  bool remembered_name_matches(char const* mangled) noexcept;

  kernel_patterns patterns_;
  std::uint64_t const skip_, count_;
  std::atomic<std::uint64_t> matching_{0};
  // By hash: the hash with the answer in its lowest bit. A thread_local cache would be part of the
  // library's static TLS, of which a late dlopen gets a few hundred bytes at most.
  static constexpr std::size_t places_each = 4;
  std::array<std::atomic<std::uint64_t>, 4096> answers_{};
  std::optional<name_matcher> matcher_;  // last: its thread reads the patterns
};

}  // namespace gpuprof::guest

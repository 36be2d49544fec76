// SPDX-License-Identifier: Apache-2.0
// Compares kernel names and launch order with the user's filters.
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

// Answers one question about a kernel name at a time, on its own thread.

/// Demangling and matching allocate memory and need tens of kB of stack. A launch callback runs on
/// a stack of the program, perhaps with 16 KiB. So it only passes the name on and waits for the
/// answer, once for each name.
class name_matcher {
 public:
  using question = std::function<bool(std::string_view)>;
  static constexpr std::size_t max_name = kernel_patterns::max_name;
  /// Matching takes microseconds. It takes longer only if it needs a lock that the caller holds,
  /// such as the loader's. Then the caller must not wait forever.
  static constexpr std::chrono::milliseconds patience{1000};

  explicit name_matcher(question does_match);
  ~name_matcher();
  name_matcher(name_matcher const&) = delete;
  name_matcher& operator=(name_matcher const&) = delete;

  /// Can be called on any thread. Allocates nothing. Returns nothing if there is no matcher thread
  /// (as in a forked child) or if it does not answer in time. Only the first `max_name` bytes are
  /// used.
  std::optional<bool> ask(std::string_view name) noexcept;

 private:
  enum class state { idle, asked, answered, nobody_waits };
  static void* run(void* self) noexcept;
  void answer_questions() noexcept;

  question const does_match_;
  std::mutex mutex_;  // protects everything below
  std::condition_variable asked_, answered_, idle_;
  state state_ = state::idle;
  bool stop_ = false;
  std::optional<bool> answer_;
  std::size_t length_ = 0;
  std::array<char, max_name> name_;

  bool has_thread_ = false;  // set only in the constructor, like `thread_`
  pthread_t thread_{};
};

/// A name matches if a pattern matches the mangled name, the demangled name or the base name
/// (without namespaces, template arguments and parameters). A plain pattern must equal the whole
/// name. A regular expression (ECMAScript without back references) may match any part. Only the
/// first name_matcher::max_name bytes of a name count.
class kernel_filter {
 public:
  static result<std::unique_ptr<kernel_filter>> make(settings const&);
  /// Makes a filter for names only, such as those of --metrics-skip: it selects all their launches.
  /// An empty list selects everything, so call has_names() first.
  static result<std::unique_ptr<kernel_filter>> make(std::vector<kernel_pattern> const& names);
  ~kernel_filter();

  /// True if neither names nor counts are limited.
  bool passes_all() const noexcept { return patterns_.empty() && skip_ == 0 && count_ == 0; }
  bool has_names() const noexcept { return !patterns_.empty(); }

  /// Call only on a gpuprof thread, since it allocates and takes tens of kB of stack. It demangles
  /// the name, so the caller should keep the answer.
  bool name_matches(std::string_view mangled) const;

  /// Can be called on any thread, in the launch callback. Checks the name, then --launch-skip and
  /// --launch-count, which count matching launches in the order in which they end. Uses a lock-free
  /// table; only the first launch of a name waits for name_matcher.
  bool selects_launch(char const* mangled) noexcept;

 private:
  kernel_filter(std::uint64_t skip, std::uint64_t count);
  std::string add_names(std::vector<kernel_pattern> const&);  // returns an error or nothing
  bool remembered_name_matches(char const* mangled) noexcept;

  kernel_patterns patterns_;
  std::uint64_t const skip_, count_;
  std::atomic<std::uint64_t> matching_{0};
  // Each word is a hash with the answer in its lowest bit. A thread_local cache would use the
  // library's static TLS, of which a late dlopen gets at most a few hundred bytes.
  static constexpr std::size_t places_each = 4;
  std::array<std::atomic<std::uint64_t>, 4096> answers_{};
  std::optional<name_matcher> matcher_;  // last member: its thread reads the patterns
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Holds kernel names and launch order against what the user asked for.
#pragma once

#include "base/result.hpp"
#include "guest/options/name_matcher.hpp"
#include "guest/options/settings.hpp"
#include "model/kernel_patterns.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::guest {

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

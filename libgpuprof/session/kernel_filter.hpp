// Holds kernel names and launch order against what the user asked for.
#pragma once

#include "base/result.hpp"
#include "session/settings.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace gpuprof {

/// A name matches when any pattern matches the mangled name, the demangled one or the base name
/// (without namespaces, template arguments and parameters). Plain patterns must be the whole name;
/// regular expressions (ECMAScript) may be found anywhere.
class kernel_filter {
 public:
  static result<std::unique_ptr<kernel_filter>> make(settings const&);
  ~kernel_filter();

  /// Neither names nor counts are limited.
  bool passes_all() const noexcept { return patterns_.empty() && skip_ == 0 && count_ == 0; }
  bool has_names() const noexcept { return !patterns_.empty(); }

  /// One thread at a time. Costs a demangling: remember the answer.
  bool name_matches(std::string_view mangled) const;

  /// Any thread, inside the launch callback: name by pointer (answers are remembered per thread),
  /// then --launch-skip and
  /// --launch-count over the matching launches in the order in which they end.
  bool selects_launch(char const* mangled) noexcept;

 private:
  struct pattern;
  kernel_filter(settings const&);

  std::vector<pattern> patterns_;
  std::uint64_t const skip_, count_;
  std::atomic<std::uint64_t> matching_{0};
};

}  // namespace gpuprof

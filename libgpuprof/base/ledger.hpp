// SPDX-License-Identifier: Apache-2.0
// What was seen, lost and spent, by name: counters that several threads raise, and the lines in
// which reports read them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof {

/// Orders nothing else: reports read the sum alone.
inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) noexcept {
  counter.fetch_add(more, std::memory_order_relaxed);
}

/// Names and values, as the capture has them; docs/capture-format.md lists them.
using named_counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// Some sixty names: looked for one after the other.
class ledger {
 public:
  /// Of one name the values of all owners add up.
  void add(std::string_view name, std::uint64_t value) {
    for (auto& [known, sum] : entries_)
      if (known == name) {
        sum += value;
        return;
      }
    entries_.emplace_back(name, value);
  }
  void add(std::string_view name, std::atomic<std::uint64_t> const& value) {
    add(name, value.load(std::memory_order_relaxed));
  }
  named_counters take() noexcept { return std::move(entries_); }

 private:
  named_counters entries_;
};

}  // namespace gpuprof

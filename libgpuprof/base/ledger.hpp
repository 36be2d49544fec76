// SPDX-License-Identifier: Apache-2.0
// Counts of what was seen, lost and spent: counters that several threads increase, and named values
// for reports.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof {

/// Memory order is relaxed, because reports read only the sum.
inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) noexcept {
  counter.fetch_add(more, std::memory_order_relaxed);
}

/// Names and values as in the capture; docs/capture-format.md lists them.
using named_counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// Holds about sixty names, so it is searched linearly.
class ledger {
 public:
  /// Values with the same name are added up.
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

// SPDX-License-Identifier: Apache-2.0
// Recognizes calls on program threads that were made by the profiler.
#pragma once

#include "base/own_calls.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gpuprof::guest {

/// For one thread. Keeps the latest stretches of each thread, and the threads with the latest
/// stretches.
class own_stretches {
 public:
  static constexpr std::size_t max_threads = 4096;

  void add(own_calls_note const& note) {
    auto& of_thread = threads_[note.os_thread];
    if (!of_thread.empty() && of_thread.back().to.value == 0) of_thread.pop_back();
    if (of_thread.size() == 2 * kept) of_thread.erase(of_thread.begin(), of_thread.begin() + kept);
    of_thread.push_back(note);
    if (threads_.size() > max_threads) forget_half();
  }

  /// The stretches of a thread do not overlap, so only one can contain a call: the first one that
  /// ends after the call began.
  bool hold(api_record const& call) const {
    if (threads_.empty()) return false;
    auto const found = threads_.find(call.os_thread);
    if (found == threads_.end()) return false;
    auto const& all = found->second;
    auto const own = std::lower_bound(all.begin(), all.end(), call.start,
                                      [this](own_calls_note const& note, timestamp_ns t) {
                                        ++steps_;
                                        return note.to.value != 0 && note.to < t;
                                      });
    if (own == all.end() || call.start < own->from) return false;
    return own->to.value == 0 || call.start + call.duration <= own->to;
  }

  std::size_t threads() const noexcept { return threads_.size(); }
  /// Returns how many stretches were examined.
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  static constexpr std::ptrdiff_t kept = 1024;

  /// Removes threads whose latest stretch is old. Ended threads are among them.
  void forget_half() {
    std::vector<timestamp_ns> latest;
    latest.reserve(threads_.size());
    for (auto const& [thread, all] : threads_) latest.push_back(all.back().from);
    auto const middle = latest.begin() + static_cast<std::ptrdiff_t>(latest.size() / 2);
    std::nth_element(latest.begin(), middle, latest.end());
    std::erase_if(threads_, [&](auto const& one) { return one.second.back().from < *middle; });
  }

  std::unordered_map<std::uint32_t, std::vector<own_calls_note>> threads_;
  mutable std::uint64_t steps_ = 0;
};

}  // namespace gpuprof::guest

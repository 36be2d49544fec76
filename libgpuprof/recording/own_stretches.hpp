// SPDX-License-Identifier: Apache-2.0
// Tells which calls on threads of the program the profiler made there.
#pragma once

#include "base/own_calls.hpp"
#include "model/records.hpp"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace gpuprof {

/// One thread. The latest stretches of each thread are kept.
class own_stretches {
 public:
  void add(own_calls_note const& note) {
    auto& of_thread = threads_[note.os_thread];
    if (!of_thread.empty() && of_thread.back().to.value == 0) of_thread.pop_back();
    if (of_thread.size() == 2 * kept) of_thread.erase(of_thread.begin(), of_thread.begin() + kept);
    of_thread.push_back(note);
  }
  bool hold(api_record const& call) const {
    if (threads_.empty()) return false;
    auto const found = threads_.find(call.os_thread);
    if (found == threads_.end()) return false;
    auto const end = call.start + call.duration;
    auto const& all = found->second;
    for (auto own = all.rbegin(); own != all.rend(); ++own) {  // in the order of their ends
      if (own->to.value != 0 && own->to < call.start) return false;
      if (call.start >= own->from && (own->to.value == 0 || end <= own->to)) return true;
    }
    return false;
  }

 private:
  static constexpr std::ptrdiff_t kept = 1024;
  std::unordered_map<std::uint32_t, std::vector<own_calls_note>> threads_;
};

}  // namespace gpuprof

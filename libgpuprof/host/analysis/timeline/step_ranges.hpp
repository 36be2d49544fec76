// SPDX-License-Identifier: Apache-2.0
// In which step of the program, and in which push/pop range, a thread was at any moment.
#pragma once

#include "host/analysis/range_tree.hpp"
#include "host/analysis/steps.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

inline constexpr std::uint32_t no_step = 0xffff'ffff;

struct step_ranges {
  std::string name;                          // "step"; empty: none
  std::vector<std::uint32_t> instances;      // indices into the tree, in order of their beginning
  std::vector<std::uint32_t> step_of_range;  // by index into the tree: number of its step; no_step
  bool empty() const noexcept { return instances.empty(); }
};

/// `name`: as the user says; empty: found.
step_ranges number_steps(range_tree const& tree, text_of_name const& text, std::string_view name);

/// In which push/pop range a thread was at any moment.
class thread_ranges {
 public:
  /// The tree outlives it. `main_thread` stands for threads while they have no range open; 0: none
  /// does.
  thread_ranges(range_tree const& tree, thread_index main_thread);

  /// Index into the tree, or no_range. Fast when asked for moments close to each other in turn.
  std::uint32_t innermost(thread_index thread, timestamp_ns moment) const noexcept;

 private:
  struct of_thread {
    std::vector<std::uint32_t> ranges;  // in order of their beginning
    mutable std::size_t last = 0;       // how many began before the moment last asked for
  };
  std::uint32_t innermost_of(thread_index thread, timestamp_ns moment) const noexcept;

  range_tree const* tree_;
  thread_index main_thread_;
  std::unordered_map<thread_index, of_thread> threads_;
};

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// Finds the step of the program and the push/pop range of a thread at any moment.
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
  std::string name;                          // "step"; empty: no steps
  std::vector<std::uint32_t> instances;      // indices into the tree, in order of start
  std::vector<std::uint32_t> step_of_range;  // by index into the tree: step number, or no_step
  /// Ends of the stretches that the steps were taken from, in order. Time behind them belongs to no
  /// step. Empty: the steps are those of the whole run.
  std::vector<timestamp_ns> stretch_ends = {};
  std::uint32_t first = 0;  // number of the first instance, counted in the whole run
  bool empty() const noexcept { return instances.empty(); }
};

/// `name` is given by the user; empty: find_steps() chooses.
step_ranges number_steps(range_tree const& tree, text_of_name const& text, std::string_view name);

/// Finds the push/pop range of a thread at any moment.
class thread_ranges {
 public:
  /// The tree must outlive this object. A thread without an open range counts in the range of
  /// `main_thread`, unless that is 0.
  thread_ranges(range_tree const& tree, thread_index main_thread);

  /// Returns an index into the tree, or no_range. Fast if successive moments are close to each
  /// other.
  std::uint32_t innermost(thread_index thread, timestamp_ns moment) const noexcept;

 private:
  struct of_thread {
    std::vector<std::uint32_t> ranges;  // in order of start
    // number of ranges that began before the last queried moment
    mutable std::size_t last = 0;
  };
  std::uint32_t innermost_of(thread_index thread, timestamp_ns moment) const noexcept;

  range_tree const* tree_;
  thread_index main_thread_;
  std::unordered_map<thread_index, of_thread> threads_;
};

}  // namespace gpuprof::host

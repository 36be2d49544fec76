// SPDX-License-Identifier: Apache-2.0
// The steps of a program as they were recorded: GPU work, calls and ranges, in plain numbers.
#pragma once

#include "host/analysis/timeline/host_calls.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::host::replay {

inline constexpr std::uint32_t nothing = 0xffff'ffff;  // an index that stands for no element

enum class work_kind : std::uint8_t { kernel, copy, fill };

/// A kernel, a graph that was traced as a whole, a copy or a fill. All times count from the begin
/// of the first step, of whichever rank; those before it are negative.
struct recorded_item {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t launched_ns = 0;  // its launching call was entered
  std::uint64_t bytes = 0;
  std::uint32_t thread = 0;
  std::uint32_t stream = 0;  // counted from 0, of all GPUs
  std::uint32_t device = 0;
  std::uint32_t name = 0;  // index into recorded_steps::work_names
  work_kind kind{};
  bool is_pageable = false;     // copies: one side is pageable memory
  bool to_host = false;         // copies: from a GPU to the host
  bool is_from_before = false;  // launched before the first step of its rank
  std::uint32_t shape = 0;      // shape_id of a kernel; 0: not known
  std::uint32_t stack = 0;      // stack_id of its launch; 0: none
  float room = 0;               // share of the GPU that its blocks fill, up to 1; 0: not known
  /// The run of a collective that this kernel is a part of: the same number on each rank, counted
  /// from 0. It ends only after all parts have begun.
  std::uint32_t meeting = nothing;

  std::int64_t length_ns() const noexcept { return end_ns > start_ns ? end_ns - start_ns : 0; }
};

struct recorded_call {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
  std::uint32_t name = 0;  // index into recorded_steps::call_names
  call_kind kind{};
};

struct recorded_range {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
  std::uint32_t name = 0;          // index into recorded_steps::range_names
  std::uint32_t parent = nothing;  // index into recorded_steps::ranges, of whichever thread
  bool is_step = false;
};

/// A time in which this profiler held a rank.
struct recorded_hold {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t rank = 0;
};

/// In any order, but ranges: those begin one after the other, and a parent stands before its
/// children. Ranks have one clock here, and threads, streams and GPUs of their own.
struct recorded_steps {
  std::vector<recorded_item> items;
  std::vector<recorded_call> calls;
  std::vector<recorded_range> ranges;
  std::vector<recorded_hold> holds;
  std::vector<std::string> work_names, call_names, range_names;
  std::vector<std::string> base_names;  // of work_names, without arguments; empty: not known
  std::int64_t end_ns = 0;              // where the last step ends, or the next one begins
  std::uint32_t steps = 0;              // of the first rank
  /// The threads that run the steps, by rank; one without ranks.
  std::vector<std::uint32_t> step_threads = {0};
  std::vector<std::uint32_t> rank_of_thread, rank_of_device;  // empty: all are of rank 0
  std::vector<std::string> rank_names;                        // empty: one capture
  std::uint32_t meetings = 0;

  std::uint32_t ranks() const noexcept { return static_cast<std::uint32_t>(step_threads.size()); }
  std::uint32_t rank_of(recorded_item const& item) const noexcept {
    return item.device < rank_of_device.size() ? rank_of_device[item.device] : 0;
  }
};

}  // namespace gpuprof::host::replay

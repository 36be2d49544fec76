// SPDX-License-Identifier: Apache-2.0
// Reads the steps of a capture that a replay goes through.
#pragma once

#include "base/result.hpp"
#include "host/reading/trace_contents.hpp"
#include "host/replay/recorded_steps.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::host::command {

/// Launches of a run, every `every`-th kernel.
struct sampled_launches {
  struct launch {
    timestamp_ns at;
    thread_index thread{};
  };
  std::vector<launch> launches;
  std::uint64_t every = 1;
};

/// The steps that were chosen of another rank.
struct steps_of_other_rank {
  std::size_t all = 0, first = 0, count = 0;  // `first` and `count`: what was chosen of all
  time_stretch time;                          // by the clock of the rank that is asked
};

struct steps_question {
  std::string step_name;            // empty: found
  std::string within;               // RANGE[@DOMAIN][/INDEX]: only steps inside; empty: all
  std::vector<time_stretch> phase;  // only steps inside of one of these; empty: all
  std::optional<steps_of_other_rank> like = {};
  /// If there are no steps, stretches of equal length stand for them, found by these launches.
  /// Null: there is no answer without steps.
  sampled_launches const* launches = nullptr;
  /// If counters were read in each step, these are taken all the same.
  bool takes_disturbed = false;
  std::uint64_t max_items = 0;  // kernels, copies and fills that are replayed; more are a sample
};

/// Set in the number of a thread without an index, which is its number of the system.
inline constexpr std::uint32_t not_known_thread = 0x8000'0000;

struct steps_of_capture {
  replay::recorded_steps steps;
  timestamp_ns begin, end;         // of the replayed time; those of `steps` count from its begin
  std::vector<stream_id> streams;  // by recorded_item::stream
  std::string name;                // "step"
  std::size_t all_steps = 0;       // of the capture, or within the range that was asked for
  std::size_t first_step = 0, could_be_chosen = 0;  // as steps_of_other_rank counts them
  /// There are no steps: stretches of the run, of equal length; so many would launch as much as
  /// all of its steady state.
  bool is_sliced = false;
  double all_slices = 0;
  bool has_calls = true;  // the capture does; else waits of the CPU look like work
  std::vector<std::string> raw_work_names;  // mangled, by index into work_names
  /// Rates of the pinned copies in the capture, or else its peaks. 0: not known.
  double pinned_to_device_bytes_per_ns = 0, pinned_to_host_bytes_per_ns = 0;
  std::vector<std::string> remarks;
};

/// Returns an error that says what cannot be replayed, and why.
result<steps_of_capture> read_steps(trace_contents& trace, steps_question const& question);

}  // namespace gpuprof::host::command

// SPDX-License-Identifier: Apache-2.0
// Computes how much shorter a step gets if a kind of work, a kernel, a call or a range takes less
// time.
#pragma once

#include "host/replay/step_edit.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::replay {

enum class subject_kind : std::uint8_t { kind_of_work, work, call, range, rank };
std::string_view name_of(subject_kind kind) noexcept;

struct sensitivity {
  subject_kind kind{};
  std::string name;     // "CPU work", or that of a kernel, a call, a range, a rank
  double count = 0;     // of a step
  double time_ns = 0;   // of a step, all together
  double tenth_ns = 0;  // how much shorter a step gets if it takes 10 % less
  double all_ns = 0;    // if it takes no time
};

struct sensitivities {
  double step_ns = 0;                 // replayed without an edit
  std::vector<sensitivity> kinds;     // kernels, copies, CPU work, calls
  std::vector<sensitivity> ranks;     // all of the above of one rank; empty: there is only one
  std::vector<sensitivity> subjects;  // the greatest first
  /// The shares of 10 % that the kinds win, together: 1 if the replay knows what holds the step.
  double sum_of_kinds() const noexcept;
};

/// Replays the subjects with the longest times, at most `count` of each kind, and returns the
/// `count` to which the step is most sensitive.
sensitivities sensitivities_of(step_graph const& graph, std::size_t count);

}  // namespace gpuprof::host::replay

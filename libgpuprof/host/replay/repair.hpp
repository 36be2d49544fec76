// SPDX-License-Identifier: Apache-2.0
// A repair as a user or a rule states it, and what a step would take with it.
#pragma once

#include "host/replay/critical_path.hpp"
#include "host/replay/step_edit.hpp"

#include <span>

namespace gpuprof::host::replay {

enum class repair_kind : std::uint8_t {
  drop,            // of work; value > 0: with the calls between its launch and the one before
  drop_and_use,    // of copies to the host, with the CPU work behind them
  merge,           // of work
  scale,           // of work, by `value`
  overlap,         // of work; value > 0: it is begun early
  free_streams,    // work waits for no other stream
  drop_calls,      // of calls; value > 0: each gets shorter by at most `value` ns
  scale_calls,     // of calls, by `value`
  scale_cpu,       // in ranges, by `value`
  as_graph,        // of ranges
  scale_long_cpu,  // longer than `limit_ns`, by `value`
  scale_between,   // CPU work between steps, by `value`
  launch_cost,     // `value` ns
  latency,         // at most `value` ns
  fuse_pairs,      // of launches that follow each other, with `value` as in launch_together()
  join_launches,   // that follow each other, into one graph, likewise
  pin,             // at `value` bytes a ns to the device, `to_host` to the host
};

struct repair {
  repair_kind kind{};
  name_set names = {};
  double value = 0, to_host = 0;
  double limit_ns = 0;
  edit_scope scope = {};
};

/// Share of a gain. Repairs of 24 planted faults were foretold to this, where CPU work was not in
/// doubt.
inline constexpr double error_of_gain = 0.05;

void apply(std::span<repair const> repairs, step_edit& to);

/// All in nanoseconds of a step.
struct forecast {
  double now_ns = 0, low_ns = 0, high_ns = 0;
  critical_path now, then;  // `then`: if the CPU work before what goes, goes too

  /// Negative: the step gets longer.
  double least_gain_ns() const noexcept { return now_ns - high_ns; }
  double greatest_gain_ns() const noexcept { return now_ns - low_ns; }
};

/// The interval spans both assumptions about the CPU work before what goes, and 5 % of the gain.
/// Where kernels are put beside others, it begins at no gain.
forecast foretell(step_graph const& graph, std::span<repair const> repairs);

}  // namespace gpuprof::host::replay

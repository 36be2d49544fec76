// SPDX-License-Identifier: Apache-2.0
#include "host/replay/repair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpuprof::host::replay {
namespace {

constexpr std::size_t least_in_graph = 5;  // launches

}  // namespace

void apply(std::span<repair const> repairs, step_edit& to) {
  for (auto const& one : repairs) {
    to.limit_to(one.scope);
    switch (one.kind) {
      case repair_kind::drop:
        to.drop(one.names, 0, one.value > 0);
        break;
      case repair_kind::drop_and_use:
        to.drop_with_work_behind(one.names);
        break;
      case repair_kind::merge:
        to.merge(one.names, one.value);
        break;
      case repair_kind::scale:
        to.scale(one.names, one.value);
        break;
      case repair_kind::overlap:
        to.overlap(one.names, one.value > 0);
        break;
      case repair_kind::free_streams:
        to.free_streams();
        break;
      case repair_kind::drop_calls:
        to.drop_calls(one.names, static_cast<std::int64_t>(std::ceil(one.value)));
        break;
      case repair_kind::scale_calls:
        to.scale_calls(one.names, one.value);
        break;
      case repair_kind::scale_cpu:
        to.scale_cpu(one.names, one.value);
        break;
      case repair_kind::as_graph:
        to.as_graph(one.names);
        break;
      case repair_kind::scale_long_cpu:
        to.scale_cpu_longer_than(static_cast<std::int64_t>(one.limit_ns), one.value);
        break;
      case repair_kind::scale_between:
        to.scale_cpu_between_steps(one.value);
        break;
      case repair_kind::latency:
        to.set_latency(one.value);
        break;
      case repair_kind::fuse_pairs:
        to.launch_together(2, 2, one.value);
        break;
      case repair_kind::join_launches:
        to.launch_together(least_in_graph, std::numeric_limits<std::size_t>::max(), one.value);
        break;
      case repair_kind::launch_cost:
        to.set_launch_cost(one.value);
        break;
      case repair_kind::pin:
        to.pin(one.value, one.to_host);
        break;
    }
  }
}

namespace {

/// Kernels beside kernels share the GPU, so that each may take longer, up to as long as one after
/// the other.
bool puts_kernels_beside_others(step_graph const& graph, std::span<repair const> repairs) {
  return std::any_of(repairs.begin(), repairs.end(), [&](repair const& one) {
    if (one.kind != repair_kind::overlap) return false;
    return std::any_of(graph.items().begin(), graph.items().end(), [&](auto const& item) {
      return item.kind == work_kind::kernel && has(one.names, item.name);
    });
  });
}

}  // namespace

forecast foretell(step_graph const& graph, std::span<repair const> repairs) {
  forecast made;
  auto const steps = std::max<double>(1, graph.recorded().steps);
  step_edit const unchanged(graph);
  auto const now = replay(unchanged);
  made.now_ns = now.total_ns() / steps;
  made.now = path_of(unchanged, now);
  double least = 0, greatest = 0;
  for (auto const before : {cpu_work_before::goes, cpu_work_before::stays}) {
    step_edit edit(graph, before);
    apply(repairs, edit);
    auto const then = replay(edit);
    auto const gain = made.now_ns - then.total_ns() / steps;
    if (before == cpu_work_before::goes) {
      made.then = path_of(edit, then);
      least = greatest = gain;
    } else {
      least = std::min(least, gain);
      greatest = std::max(greatest, gain);
    }
  }
  if (puts_kernels_beside_others(graph, repairs)) least = std::min(least, 0.0);
  auto const widened = [](double gain, double sign) {
    return gain + sign * error_of_gain * std::abs(gain);
  };
  made.high_ns = made.now_ns - widened(least, -1);
  made.low_ns = std::max(0.0, made.now_ns - widened(greatest, 1));
  return made;
}

}  // namespace gpuprof::host::replay

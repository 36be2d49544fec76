// SPDX-License-Identifier: Apache-2.0
// A change to recorded steps: what goes, what takes another time, what runs elsewhere.
#pragma once

#include "host/replay/step_graph.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpuprof::host::replay {

/// Marks the selected names, by index into work_names, call_names or range_names.
using name_set = std::vector<bool>;

inline bool has(name_set const& names, std::uint32_t name) noexcept {
  return name < names.size() && names[name];
}

/// If a launch or call is removed, it is not known if the CPU work before it goes too. Two replays,
/// one with each assumption, give an interval.
enum class cpu_work_before { goes, stays };

/// Begins without a change. Edits are applied one after another; each sees the result of the
/// earlier ones.
class step_edit {
 public:
  /// The graph outlives it.
  explicit step_edit(step_graph const& graph, cpu_work_before before = cpu_work_before::goes);

  /// Removes work and its launches, except the first `kept` launches of each step.
  void drop(name_set const& works, std::size_t kept = 0);
  /// Keeps one launch in each step, which takes the time of all.
  void merge(name_set const& works);
  void drop_calls(name_set const& calls);
  void scale(name_set const& works, double factor);
  void scale_calls(name_set const& calls, double factor);
  void scale_calls(double factor);
  /// Scales CPU work in these ranges and in ranges inside them.
  void scale_cpu(name_set const& ranges, double factor);
  void scale_cpu(double factor);
  /// Removes CPU work of this length or longer between two launches or calls.
  void drop_cpu_longer_than(std::int64_t limit_ns);
  /// Each launch takes this time instead of the one that was measured.
  void set_launch_cost(double ns);
  /// Every other step takes the CPU work of the step before it, where both have as many points: a
  /// check of the graph, which must hold with CPU times that it was not made from. Returns the
  /// share of points that lie in such pairs.
  double repeat_cpu_of_steps();
  /// Each of these ranges launches its work as one graph.
  void as_graph(name_set const& ranges);
  /// Copies from and to pageable memory hold no thread and run at these rates; 0: as they did.
  void pin(double to_device_bytes_per_ns, double to_host_bytes_per_ns);
  /// Moves work to a stream of its own, beside the rest.
  void overlap(name_set const& works);

  step_graph const& graph() const noexcept { return *graph_; }

  // The replay reads these, by point and by item.
  std::vector<std::uint8_t> const& kept_points() const noexcept { return kept_; }
  std::vector<std::uint8_t> const& held_points() const noexcept { return held_; }
  std::vector<std::int64_t> const& work_ns() const noexcept { return work_ns_; }
  std::vector<std::int64_t> const& call_ns() const noexcept { return call_ns_; }
  std::vector<std::uint8_t> const& gone_items() const noexcept { return gone_; }
  std::vector<std::int64_t> const& length_ns() const noexcept { return length_ns_; }
  std::vector<std::int64_t> const& latency_ns() const noexcept { return latency_ns_; }
  std::vector<std::uint32_t> const& streams() const noexcept { return streams_; }
  std::uint32_t stream_count() const noexcept { return stream_count_; }

 private:
  void remove_point(std::size_t point, double share_that_stays);
  /// The index of the next point of the same lane, or the number of points.
  std::size_t next_in_lane(std::size_t point) const noexcept;

  step_graph const* graph_;
  cpu_work_before before_;
  std::vector<std::uint8_t> kept_, held_, gone_;
  std::vector<std::int64_t> work_ns_, call_ns_, length_ns_, latency_ns_;
  std::vector<std::uint32_t> streams_;
  std::uint32_t stream_count_ = 0;
};

}  // namespace gpuprof::host::replay

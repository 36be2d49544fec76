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

/// The part of the steps that edits change.
struct edit_scope {
  name_set ranges = {};          // only what was launched or called inside; empty: everything
  std::uint64_t max_bytes = 0;   // only copies and fills of at most this size; 0: of any size
  std::uint32_t rank = nothing;  // only of this rank; `nothing`: of all
  std::vector<bool> items = {};  // by index into recorded_steps::items; empty: everything
};

/// Begins without a change. Edits are applied one after another; each sees the result of the
/// earlier ones.
class step_edit {
 public:
  /// The graph outlives it.
  explicit step_edit(step_graph const& graph, cpu_work_before before = cpu_work_before::goes);

  /// Edits from here on change only this part.
  void limit_to(edit_scope const& scope);

  /// Removes work and its launches, except the first `kept` launches of each step. `with_calls`:
  /// with the calls between the launch before and this one, which prepare it.
  void drop(name_set const& works, std::size_t kept = 0, bool with_calls = false);
  /// Removes copies to the host and, if `before` is `goes`, the CPU work from their end to the next
  /// launch: what the program does with the data.
  void drop_with_work_behind(name_set const& works);
  /// Keeps one launch in each step, which takes the time of all, or that of their bytes at this
  /// rate.
  void merge(name_set const& works, double bytes_per_ns = 0);
  /// Each call gets shorter by at most this time; 0: it goes.
  void drop_calls(name_set const& calls, std::int64_t at_most_ns = 0);
  void scale(name_set const& works, double factor);
  void scale_calls(name_set const& calls, double factor);
  void scale_calls(double factor);
  /// Scales CPU work in these ranges and in ranges inside them.
  void scale_cpu(name_set const& ranges, double factor);
  void scale_cpu(double factor);
  /// Scales CPU work of this length or longer between two launches or calls.
  void scale_cpu_longer_than(std::int64_t limit_ns, double factor);
  /// Scales CPU work between the end of a step and the begin of the next one.
  void scale_cpu_between_steps(double factor);
  /// Each launch takes this time instead of the one that was measured.
  void set_launch_cost(double ns);
  /// Every other step takes the CPU work of the step before it, where both have as many points: a
  /// check of the graph, which must hold with CPU times that it was not made from. Returns the
  /// share of points that lie in such pairs.
  double repeat_cpu_of_steps();
  /// Each of these ranges launches its work as one graph.
  void as_graph(name_set const& ranges);
  /// Launches that follow each other without another call between them become one launch, at most
  /// so many at a time. Fewer than `least` stay as they are. `node_ns`: what a piece of the work
  /// takes at least, in place of the pause after the one before it; 0: the pause stays.
  void launch_together(std::size_t least, std::size_t most, double node_ns = 0);
  /// From the end of work to the return of the wait for it, plus from a launch to its start. If
  /// waits took longer in this recording, they return sooner by that.
  void set_round_trip(double ns);
  /// Work on an idle GPU begins no later than this after its launch.
  void set_latency(double ns);
  /// Copies from and to pageable memory hold no thread and run at these rates; 0: as they did.
  void pin(double to_device_bytes_per_ns, double to_host_bytes_per_ns);
  /// Moves work to a stream of its own, beside the rest. `is_early`: it is begun so early that work
  /// of other streams need not wait for it. Work that has a stream of its own already can only be
  /// beside the rest if nothing waits for it.
  void overlap(name_set const& works, bool is_early = false);
  /// Work waits for no other stream.
  void free_streams();

  step_graph const& graph() const noexcept { return *graph_; }

  // The replay reads these, by point and by item.
  std::vector<std::uint8_t> const& kept_points() const noexcept { return kept_; }
  std::vector<std::uint8_t> const& held_points() const noexcept { return held_; }
  std::vector<std::int64_t> const& work_ns() const noexcept { return work_ns_; }
  std::vector<std::int64_t> const& call_ns() const noexcept { return call_ns_; }
  std::vector<std::uint8_t> const& gone_items() const noexcept { return gone_; }
  /// Of a part of a collective: from the moment at which all parts have begun.
  std::vector<std::int64_t> const& length_ns() const noexcept { return length_ns_; }
  std::vector<std::int64_t> const& latency_ns() const noexcept { return latency_ns_; }
  /// By item: after the item before it in its stream, or pause_of_graph.
  std::vector<std::int64_t> const& pause_ns() const noexcept { return pause_ns_; }
  static constexpr std::int64_t pause_of_graph = -1;
  /// By item: it does not wait for the item of another stream.
  std::vector<std::uint8_t> const& waits_for_none() const noexcept { return waits_for_none_; }
  std::int64_t return_sooner_ns() const noexcept { return return_sooner_ns_; }
  std::vector<std::uint32_t> const& streams() const noexcept { return streams_; }
  std::uint32_t stream_count() const noexcept { return stream_count_; }

 private:
  bool is_of_rank(std::size_t point) const noexcept;
  bool is_in_scope(std::size_t point) const noexcept;
  bool is_meant(name_set const& works, std::uint32_t item) const noexcept;
  void remove_point(std::size_t point, double share_that_stays);
  void join_to_launch_before(std::size_t point, std::int64_t launch_ns, double node_ns);
  /// The index of the next point of the same lane, or the number of points.
  std::size_t next_in_lane(std::size_t point) const noexcept;

  step_graph const* graph_;
  cpu_work_before before_;
  std::vector<std::uint8_t> kept_, held_, gone_, waits_for_none_;
  std::vector<std::int64_t> work_ns_, call_ns_, length_ns_, latency_ns_, pause_ns_;
  std::vector<std::int64_t> stayed_ns_;  // by point: work of points removed before it
  std::int64_t return_sooner_ns_ = 0;
  std::vector<std::uint32_t> streams_;
  std::uint32_t stream_count_ = 0;
  edit_scope scope_;
  std::vector<std::uint32_t> scope_of_range_;  // by range: the outermost in scope around it
  std::vector<std::uint32_t> launch_of_;       // by item: its point, or nothing
};

}  // namespace gpuprof::host::replay

// SPDX-License-Identifier: Apache-2.0
// The graph of recorded steps: which element waited for which. A replay goes through it.
#pragma once

#include "host/replay/cpu_points.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace gpuprof::host::replay {

/// Why an item began when it did, beside its launch and the item before it in its stream.
enum class start_reason : std::uint8_t {
  known,        // launch and stream order explain it
  event,        // inferred: it waited for an item of another stream
  room,         // inferred: another stream's kernel filled the GPU
  unexplained,  // it began later than anything explains
};

struct graph_item {
  std::uint32_t before = nothing;  // the item before it in its stream
  std::uint32_t other = nothing;   // the item of another stream that it waited for
  std::int64_t gap_ns = 0;         // after `before`; negative: both ran at once
  std::int64_t other_gap_ns = 0;   // after the end of `other`
  std::int64_t latency_ns = 0;     // after its launch
  std::int64_t unexplained_ns = 0;
  start_reason reason{};
  bool is_queued = false;  // it was launched before the item before it had ended
};

struct graph_point {
  std::uint32_t waits_for = nothing;  // calls: the item that ended last inside
  std::int64_t returns_after_ns = 0;  // from its end
  // launches of pageable copies, or the calls that made them: the copy that holds the thread
  std::uint32_t held_by = nothing;
  std::int64_t held_after_ns = 0;  // from the end of the copy to the next point
};

/// Typical times of this recording.
struct pace_of_steps {
  std::int64_t latency_ns = 0;  // from a launch to its start on an idle GPU
  std::int64_t pause_ns = 0;    // between queued items
  std::int64_t launch_ns = 0;   // between two launches that follow each other at once
  std::uint32_t queue = 0;      // launches that a GPU holds before a launch waits; 0: not seen
};

/// Immutable.
class step_graph {
 public:
  explicit step_graph(recorded_steps recorded);

  recorded_steps const& recorded() const noexcept { return recorded_; }
  std::vector<recorded_item> const& items() const noexcept { return recorded_.items; }
  std::vector<cpu_point> const& points() const noexcept { return lanes_.points; }
  std::vector<graph_item> const& edges() const noexcept { return edges_; }
  std::vector<graph_point> const& holds() const noexcept { return holds_; }
  cpu_lanes const& lanes() const noexcept { return lanes_; }
  /// The points in the order in which a replay goes through them.
  std::vector<std::uint32_t> const& order() const noexcept { return order_; }
  pace_of_steps const& pace() const noexcept { return pace_; }
  /// The parts of each run of a collective, by number. Empty: there is one rank.
  std::vector<std::vector<std::uint32_t>> const& meetings() const noexcept { return meetings_; }
  /// The time of an item without its wait for other ranks.
  std::int64_t lasting_ns(std::uint32_t item) const noexcept;
  /// The time that a call takes if nothing makes it wait.
  std::int64_t bare_call_ns(std::uint32_t call_name) const noexcept;
  /// From the end of what was launched before the first step, to the end of all.
  std::int64_t recorded_ns() const noexcept { return recorded_ns_; }

 private:
  using item_ends = std::vector<std::pair<std::int64_t, std::uint32_t>>;  // time, item

  item_ends ends_in_order() const;
  /// The last item of another stream of its rank that ended shortly before it began, but not before
  /// `free_ns`; `nothing`: there is none.
  std::uint32_t ended_just_before(std::uint32_t item, std::int64_t free_ns,
                                  item_ends const& ends) const;
  void find_meetings();
  void find_stream_order();
  void measure_pace();
  void find_other_streams();
  void find_full_queue();
  void find_waits();
  void find_holding_copies();
  void measure_launches();
  void measure_length();
  void find_order();

  recorded_steps recorded_;
  cpu_lanes lanes_;
  std::vector<graph_item> edges_;
  std::vector<graph_point> holds_;
  std::vector<std::uint32_t> order_;
  std::vector<std::vector<std::uint32_t>> meetings_;
  std::vector<std::int64_t> last_begin_;  // of the parts of each meeting
  std::vector<std::optional<std::int64_t>> bare_calls_;
  pace_of_steps pace_;
  std::int64_t recorded_ns_ = 0;
};

}  // namespace gpuprof::host::replay

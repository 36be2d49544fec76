// SPDX-License-Identifier: Apache-2.0
// The NVTX ranges of a trace, each with its end and its enclosing range.
#pragma once

#include "model/records.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

inline constexpr std::uint32_t no_range = std::numeric_limits<std::uint32_t>::max();

struct traced_range {
  range_id id{};
  // index of the enclosing push/pop range; always lower than its own
  std::uint32_t parent = no_range;
  thread_index thread{};
  range_style style{};
  std::uint16_t level = 0;
  name_id name{};
  name_id domain{};
  timestamp_ns begin, end;
  bool still_open = false;  // no end was recorded: `end` is the last moment of the trace
  /// For an outermost range of a helper thread: index of the main thread's range around it, always
  /// lower than its own. See join_helpers().
  std::uint32_t waiting = no_range;

  duration_ns duration() const noexcept { return end > begin ? end - begin : duration_ns{}; }
  /// Returns the enclosing range, of any thread.
  std::uint32_t around() const noexcept { return parent != no_range ? parent : waiting; }
};

/// The properties shared by ranges that are listed on one line.
struct range_key {
  name_id name{};
  name_id domain{};
  range_style style{};
  friend auto operator<=>(range_key const&, range_key const&) = default;
};
inline range_key key_of(traced_range const& range) noexcept {
  return {range.name, range.domain, range.style};
}

class range_tree {
 public:
  range_tree() = default;
  /// Ranges that are still open end at `last_moment`.
  range_tree(std::span<range_begin const> begins, std::span<range_end const> ends,
             timestamp_ns last_moment);

  /// PyTorch's backward and NCCL open ranges on helper threads while the main thread waits inside
  /// its own ranges. Sets `waiting` of all ranges that lie inside one of these. If the main thread
  /// is not known or has no ranges, uses the thread with the most time in ranges.
  void join_helpers(thread_index main_thread);

  /// Takes ranges out; what is inside one of these belongs to the next range outwards on its
  /// thread, also for index_of(). Call before join_helpers().
  void leave_out(std::function<bool(traced_range const&)> const& is_left_out);
  bool has_left_out() const noexcept { return !stand_ins_.empty(); }

  std::size_t size() const noexcept { return ranges_.size(); }
  bool empty() const noexcept { return ranges_.empty(); }
  /// Sorted by start.
  std::span<traced_range const> ranges() const noexcept { return ranges_; }
  traced_range const& operator[](std::uint32_t index) const noexcept { return ranges_[index]; }

  /// Returns no_range if the trace does not contain it, or if it was left out and is in no other
  /// range. Any thread.
  std::uint32_t index_of(range_id id) const noexcept {
    // Successive launches are mostly in the same range.
    std::atomic_ref const last(last_);
    auto index = last.load(std::memory_order_relaxed);
    if (index >= ranges_.size() || ranges_[index].id != id) {
      index = find(id);
      last.store(index, std::memory_order_relaxed);
    }
    return index;
  }

  /// Returns true if `range` is `ancestor` or lies inside it on the same thread.
  bool is_within(std::uint32_t range, std::uint32_t ancestor) const noexcept;

  std::size_t still_open() const noexcept { return still_open_; }

 private:
  std::uint32_t find(range_id id) const noexcept;
  void index_ids();
  void take_ends(std::span<range_end const> ends, timestamp_ns last_moment);
  void leave_ended_parents();
  thread_index thread_with_ranges(thread_index main_thread) const;

  std::vector<traced_range> ranges_;
  // hash table with open addressing; size is a power of two; no_range: empty
  std::vector<std::uint32_t> slots_;
  std::unordered_map<range_id, std::uint32_t> stand_ins_;  // of ranges that were left out
  std::size_t still_open_ = 0;
  mutable std::uint32_t last_ = no_range;  // the range that was found last
};

/// Finds the start/end ranges that were open at a moment, on any thread.
class open_ranges {
 public:
  explicit open_ranges(range_tree const& tree);

  /// Returns indices into the tree. Fast if successive moments are close to each other.
  std::span<std::uint32_t const> at(timestamp_ns moment) const noexcept;

  /// Number of ranges left out because too many were open at once.
  std::size_t not_followed() const noexcept { return not_followed_; }

 private:
  std::vector<std::uint64_t> begins_;   // start of each segment between two events
  std::vector<std::uint32_t> offsets_;  // start of its list in `open_`
  std::vector<std::uint32_t> open_;
  std::size_t not_followed_ = 0;
  mutable std::size_t last_ = 0;
};

}  // namespace gpuprof::host

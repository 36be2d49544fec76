// SPDX-License-Identifier: Apache-2.0
// All NVTX ranges of a trace, each with its end and its enclosing range.
#pragma once

#include "model/records.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gpuprof::host {

inline constexpr std::uint32_t no_range = std::numeric_limits<std::uint32_t>::max();

struct traced_range {
  range_id id{};
  std::uint32_t parent = no_range;  // index of the enclosing push/pop range; always below its own
  thread_index thread{};
  range_style style{};
  std::uint16_t level = 0;
  name_id name{};
  name_id domain{};
  timestamp_ns begin, end;
  bool still_open = false;  // no end was recorded: `end` is the last moment of the trace
  /// Index of the range of the main thread around an outermost one of another thread, which works
  /// for it; always below its own. See join_helpers().
  std::uint32_t waiting = no_range;

  duration_ns duration() const noexcept { return end > begin ? end - begin : duration_ns{}; }
  /// The range around it, of whichever thread.
  std::uint32_t around() const noexcept { return parent != no_range ? parent : waiting; }
};

/// What ranges have in common when they are listed on one line.
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
  /// `last_moment` is where ranges end that were still open.
  range_tree(std::span<range_begin const> begins, std::span<range_end const> ends,
             timestamp_ns last_moment);

  /// PyTorch's backward and NCCL open ranges on threads of their own while the main thread waits
  /// inside of its ranges: finds `waiting` of all ranges that lie inside one of these. Where the
  /// main thread is not known or has no ranges, it is the thread that spent most time in ranges.
  void join_helpers(thread_index main_thread);

  std::size_t size() const noexcept { return ranges_.size(); }
  bool empty() const noexcept { return ranges_.empty(); }
  /// In order of their beginning.
  std::span<traced_range const> ranges() const noexcept { return ranges_; }
  traced_range const& operator[](std::uint32_t index) const noexcept { return ranges_[index]; }

  /// no_range when the trace does not hold it.
  std::uint32_t index_of(range_id id) const noexcept;

  /// Whether `range` is `ancestor` or lies inside it on the same thread.
  bool is_within(std::uint32_t range, std::uint32_t ancestor) const noexcept;

  std::size_t still_open() const noexcept { return still_open_; }

 private:
  void index_ids();
  void take_ends(std::span<range_end const> ends, timestamp_ns last_moment);
  void leave_ended_parents();
  thread_index thread_with_ranges(thread_index main_thread) const;

  std::vector<traced_range> ranges_;
  std::vector<std::uint32_t> slots_;  // open addressing, a power of two; no_range: empty
  std::size_t still_open_ = 0;
};

/// Which start/end ranges were open at a moment, whatever the thread.
class open_ranges {
 public:
  explicit open_ranges(range_tree const& tree);

  /// Indices into the tree. Fast when asked for moments close to each other in turn.
  std::span<std::uint32_t const> at(timestamp_ns moment) const noexcept;

  /// Ranges left out because too many were open at once to follow them all.
  std::size_t not_followed() const noexcept { return not_followed_; }

 private:
  std::vector<std::uint64_t> begins_;   // of each segment between two events
  std::vector<std::uint32_t> offsets_;  // where its list begins in open_
  std::vector<std::uint32_t> open_;
  std::size_t not_followed_ = 0;
  mutable std::size_t last_ = 0;
};

}  // namespace gpuprof::host

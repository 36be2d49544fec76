// SPDX-License-Identifier: Apache-2.0
// The rows of the GPUs: on which row the work of a stream is drawn, and the ranges of the program
// on these rows.
#pragma once

#include "host/export/chrome/event_writer.hpp"
#include "host/reading/trace_contents.hpp"
#include "model/ids.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::chrome {

enum class row_use : std::uint8_t { ranges, work, waits };

/// Slices of one row must not overlap, or viewers drop them. What would goes to a further row of
/// its stream. Kineto's numbers: a stream's row has the number of the stream, its waits 1000000
/// more.
class gpu_rows {
 public:
  /// Of one stream and use in order of their start.
  track row_for(device_id device, stream_id stream, row_use use, timestamp_ns start,
                std::uint64_t length);
  /// Of a context's waits, which are on no stream.
  track row_for_context(device_id device, context_id context, timestamp_ns start,
                        std::uint64_t length);

  /// For a range that does not nest with others on a row of a stream.
  track row_beside(track of, timestamp_ns start, std::uint64_t length);

  struct row {
    track at;
    std::string name;
    std::uint64_t sort_index = 0;
    std::uint32_t stream = 0;  // or context
  };
  std::vector<row> const& rows() const noexcept { return rows_; }

 private:
  struct key {
    std::uint32_t device = 0, number = 0;
    row_use use{};
    bool is_context = false;
    friend auto operator<=>(key const&, key const&) = default;
  };
  struct lane {
    track at;
    std::uint64_t busy_until = 0;
  };
  track lane_of(key const& of, std::uint64_t start, std::uint64_t end);
  track new_row(key const& of, std::size_t which);

  std::map<key, std::vector<lane>> lanes_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> taken_;
  std::vector<row> rows_;
  key last_key_;
  std::vector<lane>* last_ = nullptr;  // most work is on the stream of the work before
};

/// Draws each range from the first to the last work launched in it, on each row that has such work,
/// as Kineto does it.
class gpu_annotations {
 public:
  explicit gpu_annotations(trace_contents& trace);

  template <class Work>
  void see(Work const& work, track row) {
    if (!is_on_) return;
    auto const range = trace_->launched(range_scope::process).innermost(work);
    if (range != no_range) see(range, row, work.start.value, (work.start + work.duration).value);
  }
  void write(event_writer& to, quoted_names& names, gpu_rows& rows);

  /// There are more ranges than it keeps in memory: none is written.
  bool left_out() const noexcept { return !is_complete_; }

 private:
  struct extent {
    std::uint64_t first = 0, last = 0;
  };
  struct placed {
    std::uint32_t range = 0, row = 0;
    extent at;
  };
  void see(std::uint32_t range, track row, std::uint64_t first, std::uint64_t last);
  std::vector<placed> with_parents();
  std::uint32_t number_of(track row);

  trace_contents* trace_;
  bool is_complete_ = false, is_on_ = false;
  std::vector<track> rows_;
  std::uint32_t last_row_ = 0;
  std::unordered_map<std::uint64_t, extent> extents_;  // by range and number of the row
};

}  // namespace gpuprof::host::chrome

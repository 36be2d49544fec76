// SPDX-License-Identifier: Apache-2.0
// Decides on which row of the timeline to draw the calls, ranges and launches of a thread, the work
// of a stream, and the program's ranges on the rows of GPUs.
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

/// The purposes of a thread's further rows. They hold slices that do not nest with those of its own
/// row.
enum class further_use : std::uint8_t { calls, ranges, launches, readings, python };

class cpu_rows {
 public:
  explicit cpu_rows(trace_contents& trace);

  /// The number under which the process is shown: its own, unless a GPU is shown under that number.
  /// In containers it may be 1.
  std::uint64_t process() const noexcept { return process_; }
  track of(thread_index thread) { return of_system_thread(trace_->os_thread(thread)); }
  track of_system_thread(std::uint32_t os_thread);
  track further(std::uint32_t os_thread, further_use use, std::size_t which);
  /// Returns the first of the further rows on which the slice partly overlaps no other.
  track beside(std::uint32_t os_thread, further_use use, timestamp_ns start, timestamp_ns end);
  /// Returns the row for a launch without a recorded call: the thread's own row, unless the launch
  /// would partly overlap another there.
  track of_launch(std::uint32_t os_thread, timestamp_ns start, timestamp_ns end);
  std::uint32_t system_thread(thread_index thread) const { return trace_->os_thread(thread); }

  /// Writes the names of all rows that were asked for.
  void write_names(event_writer& to) const;

 private:
  /// A row of slices that are disjoint or nested, and never partly overlap.
  class nested_lane {
   public:
    bool take(std::uint64_t start, std::uint64_t end);

   private:
    struct interval {
      std::uint64_t start = 0, end = 0;
    };
    std::vector<interval> outermost_;  // disjoint and sorted
    std::uint64_t forgotten_until_ = 0;
  };
  struct further_row {
    track at;
    further_use use{};
    std::size_t which = 0;
  };

  std::string name_of(std::uint32_t os_thread) const;

  trace_contents* trace_;
  std::uint64_t process_ = 0;
  std::map<std::uint32_t, std::string> names_;  // by the system's thread id
  std::set<std::uint32_t> seen_;
  std::uint32_t last_seen_ = ~std::uint32_t{0};
  std::map<std::uint32_t, std::vector<further_row>> further_;
  std::map<std::pair<std::uint32_t, further_use>, std::vector<nested_lane>> lanes_;
  std::map<std::uint32_t, nested_lane> launches_;  // by thread, for the thread's own row
  std::uint64_t next_further_;
};

/// Assigns rows to calls. Calls of a thread nest; if their times contradict that, one goes to a
/// further row. The same sequence of calls always gets the same rows.
class call_rows {
 public:
  explicit call_rows(cpu_rows& rows) noexcept : rows_(&rows) {}

  struct place {
    track at;
    bool is_outermost = true;  // the outermost call with its correlation id
    bool nests = true;         // it is on the thread's own row
  };
  /// Runs by kernel name, sorted by start.
  place place_of(api_record const& call);

  /// The call that is open on the thread's own row at a given time, with its start and end; 0: no
  /// call.
  struct interval {
    std::uint64_t start = 0, end = 0;
  };
  interval open_at(std::uint32_t os_thread, timestamp_ns moment);

 private:
  struct open_call {
    std::uint64_t start = 0, end = 0;
    correlation_id correlation{};
  };
  struct of_thread {
    std::vector<open_call> open;
    std::vector<std::uint64_t> busy_until;  // of the further rows
  };
  static void close_until(std::vector<open_call>& open, std::uint64_t moment) noexcept {
    while (!open.empty() && open.back().end <= moment) open.pop_back();
  }
  of_thread& thread(std::uint32_t os_thread);

  cpu_rows* rows_;
  std::unordered_map<std::uint32_t, of_thread> threads_;
  std::uint32_t last_number_ = 0;
  of_thread* last_ = nullptr;  // calls of a thread follow each other
};

/// The rows of the GPUs: the row on which the work of a stream is drawn, and the program's ranges
/// on these rows.
enum class row_use : std::uint8_t { ranges, work, waits };

/// Slices of one row must not overlap, or viewers drop them. A slice that would overlap goes to a
/// further row of its stream. Rows are numbered as in Kineto: a stream's row has the number of the
/// stream, and the row of its waits has 1000000 more.
class gpu_rows {
 public:
  /// Items with the same stream and use must come in order of their start.
  track row_for(device_id device, stream_id stream, row_use use, timestamp_ns start,
                std::uint64_t length);
  /// Returns the row for waits of a context, which belong to no stream.
  track row_for_context(device_id device, context_id context, timestamp_ns start,
                        std::uint64_t length);

  /// Returns a row for a range that does not nest with others on a stream's row.
  track row_beside(track of, timestamp_ns start, std::uint64_t length);

  struct row {
    track at;
    std::string name;
    std::uint64_t sort_index = 0;
    std::uint32_t stream = 0;  // stream or context number
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
  std::vector<lane>* last_ = nullptr;  // consecutive work is mostly on the same stream
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

  /// True if there are more ranges than fit in memory. Then none is written.
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
  std::unordered_map<std::uint64_t, extent> extents_;  // by range and row number
};

}  // namespace gpuprof::host::chrome

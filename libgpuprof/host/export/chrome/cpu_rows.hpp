// SPDX-License-Identifier: Apache-2.0
// Says on which row of the picture the calls, ranges and launches of a thread are drawn.
#pragma once

#include "host/export/chrome/event_writer.hpp"
#include "host/reading/trace_contents.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::host::chrome {

/// What further rows of a thread are for: slices that do not nest with those of its own row.
enum class further_use : std::uint8_t { calls, ranges, launches, readings };

class cpu_rows {
 public:
  explicit cpu_rows(trace_contents& trace);

  /// The process. Its own number, unless a GPU is shown under it: in containers it may be 1.
  std::uint64_t process() const noexcept { return process_; }
  track of(thread_index thread) { return of_system_thread(trace_->os_thread(thread)); }
  track of_system_thread(std::uint32_t os_thread);
  track further(std::uint32_t os_thread, further_use use, std::size_t which);
  /// The first of the further rows on which the slice cuts through no other.
  track beside(std::uint32_t os_thread, further_use use, timestamp_ns start, timestamp_ns end);
  /// For a launch that nobody has recorded as a call: the thread's own row, unless it cuts through
  /// another such there.
  track of_launch(std::uint32_t os_thread, timestamp_ns start, timestamp_ns end);
  std::uint32_t system_thread(thread_index thread) const { return trace_->os_thread(thread); }

  /// Of all rows that were asked for.
  void write_names(event_writer& to) const;

 private:
  /// Slices that lie beside or around each other, never across.
  class nested_lane {
   public:
    bool take(std::uint64_t start, std::uint64_t end);

   private:
    struct interval {
      std::uint64_t start = 0, end = 0;
    };
    std::vector<interval> outermost_;  // apart from each other, in order
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
  std::map<std::uint32_t, std::string> names_;  // by the system's number of a thread
  std::set<std::uint32_t> seen_;
  std::uint32_t last_seen_ = ~std::uint32_t{0};
  std::map<std::uint32_t, std::vector<further_row>> further_;
  std::map<std::pair<std::uint32_t, further_use>, std::vector<nested_lane>> lanes_;
  std::map<std::uint32_t, nested_lane> launches_;  // of each thread's own row
  std::uint64_t next_further_;
};

/// Calls of a thread nest; where their times say otherwise, one goes to a further row. Who asks for
/// the same calls again gets the same rows.
class call_rows {
 public:
  explicit call_rows(cpu_rows& rows) noexcept : rows_(&rows) {}

  struct place {
    track at;
    bool is_outermost = true;  // of those with its correlation
    bool nests = true;         // it is on the thread's own row
  };
  /// In order of their start.
  place place_of(api_record const& call);

  /// The call that is open on the thread's own row at a moment: where it began and will end; 0:
  /// none.
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

}  // namespace gpuprof::host::chrome

// SPDX-License-Identifier: Apache-2.0
// The data read of one process, in any order, until a capture is made of it.
#pragma once

#include "host/import/narrow_ids.hpp"
#include "host/import/sorted_spool.hpp"
#include "model/ids.hpp"
#include "model/name_table.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

// Finds the call that launched a piece of GPU work by the number that both share.

struct launch {
  std::uint64_t time = 0;         // as in the source
  std::uint32_t range = 0;        // index of the range in its thread, from 1 on; 0: none
  std::uint32_t thread : 30 = 0;  // 0: no call was seen
  std::uint32_t asynchronous : 1 = 0;
  std::uint32_t is_of_several : 1 = 0;  // calls of several processes have the number
};
static_assert(sizeof(launch) == 16);

/// Sixteen bytes per launch. A bit marks each wanted number; its rank among the set bits is the
/// index of the launch. Call expect() for all numbers first, then find().
class launch_table {
 public:
  void expect(correlation_id number);
  /// Returns null if no work has this number.
  launch* find(correlation_id number);

 private:
  static constexpr std::size_t page_bits = 16;
  static constexpr std::size_t words = (1 << page_bits) / 64;
  struct page {
    std::uint64_t wanted[words] = {};
    std::uint32_t before[words] = {};  // set bits in the words before
    std::vector<launch> launches;      // allocated by the first find()
  };

  page* page_of(std::uint32_t number);

  std::unordered_map<std::uint32_t, std::unique_ptr<page>> pages_;
  std::uint32_t last_number_ = 0;
  page* last_ = nullptr;
};

// Tells the moments of a recording from damaged ones, which lie months away from all others.

/// A recording lasts for days, not for months. First note() all moments, then call settle(), then
/// the others.
class recorded_days {
 public:
  /// Nanoseconds from any origin.
  void note(std::int64_t moment) {
    earliest_ = moment < earliest_ ? moment : earliest_;
    auto const day = day_of(moment);
    if (last_count_ == nullptr || day != last_day_) {
      // Damaged moments may all differ. Moments of a recording share its days.
      if (counts_.size() >= max_days && !counts_.contains(day)) return;
      last_day_ = day;
      last_count_ = &counts_[day];
    }
    ++*last_count_;
  }
  void settle();

  /// True if the recording can hold an event that began at this moment and had this length.
  bool hold(std::int64_t begin, std::int64_t length) const noexcept {
    return begin >= first_ && begin <= last_ && length >= 0 && length <= longest_ns;
  }
  /// Returns the earliest moment of the recording, accurate to a day; 0 if nothing was noted.
  std::int64_t earliest() const noexcept {
    return counts_.empty() ? 0 : std::max(earliest_, first_);
  }

 private:
  static constexpr std::int64_t day_ns = 86'400'000'000'000;
  static constexpr std::int64_t longest_ns = 31 * day_ns;
  static constexpr std::size_t max_days = 4096;
  static std::int64_t day_of(std::int64_t moment) noexcept {
    return moment / day_ns - (moment % day_ns < 0);
  }

  std::unordered_map<std::int64_t, std::uint64_t> counts_;  // by day
  std::int64_t last_day_ = 0;
  std::uint64_t* last_count_ = nullptr;  // count of last_day_; elements of this map do not move
  std::int64_t earliest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_ = 0, last_ = 0;
};

/// A range with its end. Captures store the end in another row.
struct imported_range {
  timestamp_ns end;  // valid if `has_end`
  bool has_end = false;
  thread_index ended_on{};
  range_begin begin;  // its id, parent and level are computed from the times
};

struct imported_call {
  api_record call;
  thread_index thread{};
  bool is_made = false;  // not a recorded call: it only says when and where work was launched
};

/// A capture window, if the source names those in its file. Times as in the source.
struct imported_window {
  std::int64_t start = 0, end = 0;
  name_id trigger{};
};

struct starts_first {
  template <class Record>
  bool operator()(Record const& a, Record const& b) const {
    return a.start < b.start;
  }
  bool operator()(imported_call const& a, imported_call const& b) const {
    return a.call.start < b.call.start;
  }
  bool operator()(mark_record const& a, mark_record const& b) const { return a.time < b.time; }
  bool operator()(memory_record const& a, memory_record const& b) const { return a.time < b.time; }
  /// If ranges begin together, the outer one comes first.
  bool operator()(imported_range const& a, imported_range const& b) const {
    if (a.begin.time != b.begin.time) return a.begin.time < b.begin.time;
    if (!a.has_end || !b.has_end) return !a.has_end && b.has_end;
    return b.end < a.end;
  }
};
template <class Record>
using record_spool = sorted_spool<Record, starts_first>;

/// If `launched` of a work record is set, `thread` is the launching thread, and both are kept.
/// Otherwise `thread` is the process_row() of the work until its call is found.
///
/// Times are as moment() returned them; `epoch` is added to each when the capture is made. Names,
/// threads and shapes get their numbers at once.
class imported_process {
 public:
  explicit imported_process(std::string const& spool_folder);

  /// Converts a time of the source, which may be negative. The results keep their order, and none
  /// equals the value for "not known".
  timestamp_ns moment(std::int64_t said) {
    days_.note(said);
    return {static_cast<std::uint64_t>(said) + moment_of_zero};
  }
  static std::int64_t as_said(timestamp_ns moment) noexcept {
    return static_cast<std::int64_t>(moment.value - moment_of_zero);
  }
  recorded_days& days() noexcept { return days_; }

  name_id name(std::string_view text) { return names_.intern(text); }
  /// Convert identifiers of the source, which may have 64 bits.
  correlation_id correlation(std::int64_t said);
  stream_id stream(std::int64_t said) { return stream_id{streams_.of(said, said).first}; }
  context_id context(std::int64_t said) { return context_id{contexts_.of(said, said).first}; }
  graph_id graph(std::int64_t said) {
    return said == 0 ? graph_id{} : graph_id{graphs_.of(said, said).first};
  }
  /// `process` is needed if one file holds several.
  thread_index thread(std::uint32_t os_thread, std::int64_t process = 0);
  std::int64_t process_of(thread_index thread) const { return process_of_thread_[raw(thread) - 1]; }
  /// Until it is written, `range` of a kernel_record holds this: the collective's name and its
  /// arguments as JSON.
  static range_id collective(name_id name, name_id arguments) noexcept {
    return range_id{std::uint64_t{raw(name)} << 32 | raw(arguments)};
  }
  /// Returns a thread index that stands for a process, if the file holds several. None for 0.
  thread_index process_row(std::int64_t process);
  std::int64_t process_of_row(thread_index row) const {
    return raw(row) == 0 ? 0 : process_rows_[raw(row) - 1];
  }
  void name_thread(std::uint32_t os_thread, name_id name) { thread_names_[os_thread] = name; }
  /// The id in `shape` is ignored.
  shape_id shape(kernel_shape const& shape);
  /// If a key comes again, its first value is kept.
  void fact(std::string_view key, std::string_view value);
  /// Counts things that could not be imported. `stats` reports them as "lost: 3 kernels without
  /// time".
  void lose(std::string const& what, std::uint64_t count = 1) { losses_[what] += count; }
  /// Counts losses of the capture that the file was exported from.
  void lost_before(std::string_view what, std::uint64_t count) {
    lost_before_[std::string(what)] += count;
  }

  /// True if it has anything besides names and facts.
  bool has_records() const;

  void add(kernel_record const& record) { add_work(kernels, record); }
  void add(copy_record const& record) { add_work(copies, record); }
  void add(memset_record const& record) { add_work(fills, record); }
  void add(graph_record const& record) { add_work(graphs, record); }

  std::int64_t epoch = 0;
  std::optional<std::uint32_t> process_id;
  /// Begin and end of the recording in the source's time, if the source has them.
  std::optional<std::int64_t> began, ended;
  std::vector<imported_window> windows;
  std::map<device_id, device_record> devices;
  std::set<device_id> devices_at_work;  // the source may not describe these
  std::map<context_id, device_id> contexts;
  std::vector<category_record> categories;
  /// True if the work of one stream runs in sequence. AMD's traces have queues instead, and streams
  /// of several processes may have the same number.
  bool streams_are_in_order = true;

  record_spool<kernel_record> kernels;
  record_spool<copy_record> copies;
  record_spool<memset_record> fills;
  record_spool<graph_record> graphs;
  record_spool<imported_call> calls;
  record_spool<imported_range> ranges;
  record_spool<mark_record> marks;
  record_spool<sync_record> syncs;
  record_spool<memory_record> allocations;
  record_spool<unified_memory_record> migrations;
  // Only gpuprof's exports have these. The times of readings are those of the source.
  std::vector<peak_record> peaks;
  std::vector<read_launch_record> readings;

  launch_table launches;
  name_table const& names() const noexcept { return names_; }
  std::vector<kernel_shape> const& shapes() const noexcept { return shapes_; }
  std::vector<std::uint32_t> const& threads() const noexcept { return threads_; }
  name_id thread_name(std::uint32_t os_thread) const;
  std::vector<std::pair<name_id, name_id>> const& facts() const noexcept { return facts_; }
  std::map<std::string, std::uint64_t> const& losses() const noexcept { return losses_; }
  std::map<std::string, std::uint64_t> const& losses_before() const noexcept {
    return lost_before_;
  }

 private:
  static constexpr std::uint64_t moment_of_zero = std::uint64_t{1} << 63;
  struct shape_hash {
    std::size_t operator()(kernel_shape const& shape) const noexcept;
  };

  template <class Record>
  void add_work(record_spool<Record>& to, Record const& record) {
    if (raw(record.correlation) != 0) launches.expect(record.correlation);
    contexts.try_emplace(record.context, record.device);
    devices_at_work.insert(record.device);
    to.add(record);
  }

  recorded_days days_;
  name_table names_;
  std::unordered_map<std::int64_t, std::uint32_t> wide_correlations_;
  narrow_ids<std::int64_t> streams_, contexts_, graphs_;
  std::unordered_map<std::uint32_t, thread_index> thread_numbers_;
  std::vector<std::uint32_t> threads_;  // by thread_index, from 1 on
  std::vector<std::int64_t> process_of_thread_;
  std::vector<std::int64_t> process_rows_;
  std::unordered_map<std::int64_t, thread_index> row_of_process_;
  std::unordered_map<std::uint32_t, name_id> thread_names_;
  std::unordered_map<kernel_shape, shape_id, shape_hash> shape_numbers_;
  std::vector<kernel_shape> shapes_;
  std::vector<std::pair<name_id, name_id>> facts_;
  std::map<std::string, std::uint64_t> losses_, lost_before_;
};

}  // namespace gpuprof::host

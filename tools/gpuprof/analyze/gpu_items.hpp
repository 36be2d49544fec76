// SPDX-License-Identifier: Apache-2.0
// Converts all GPU work of a capture to one kind of item, and passes the items to the time ledger
// in order of time.
#pragma once

#include "host/analysis/declared_launches.hpp"
#include "host/analysis/selection.hpp"
#include "host/analysis/stack_times.hpp"
#include "host/analysis/timeline/gpu_item.hpp"
#include "host/analysis/timeline/timeline_pass.hpp"
#include "host/analysis/timeline/work_tables.hpp"
#include "host/reading/capture_walk.hpp"
#include "host/reading/trace_contents.hpp"
#include "whatif/step_collector.hpp"

#include <vector>

namespace gpuprof::host::command {

class gpu_items {
 public:
  /// The trace must outlive this object.
  explicit gpu_items(trace_contents& trace);

  gpu_item of(kernel_record const& kernel) const;
  gpu_item of(graph_record const& graph) const;
  gpu_item of(copy_record const& copy) const;
  gpu_item of(memset_record const& fill) const;

  bool is_collective(std::uint32_t shape) const noexcept {
    return shape < collectives_.size() && collectives_[shape];
  }

 private:
  template <class Record>
  gpu_item common(Record const& record) const;

  launch_ranges const& launched_;
  std::vector<bool> collectives_;
};

transfer_key key_of(copy_record const& copy) noexcept;
transfer_key key_of(memset_record const& fill) noexcept;

// Passes the records of a capture to the time ledger in order of time.

/// Visitor for for_each_in_time().
class time_walk {
 public:
  time_walk(trace_contents& trace, gpu_items const& items, timeline_pass& pass,
            declared_launches& declared, selection const* wanted, std::vector<time_stretch> windows,
            step_collector* collector, stack_times* stacks, idle_causes* causes,
            read_progress const& progress)
      : trace_(trace),
        items_(items),
        pass_(pass),
        declared_(declared),
        wanted_(wanted),
        windows_(std::move(windows)),
        collector_(collector),
        stacks_(stacks),
        causes_(causes),
        progress_(progress) {
    pass_.begin_window(windows_.front().begin, windows_.front().end);
  }

  void operator()(kernel_record const& kernel) {
    if (collector_ != nullptr) collector_->add(kernel);
    enter(kernel.start);
    auto const item = items_.of(kernel);
    declared_.add(kernel_key(item.device, item.subject), item.range);
    if (is_wanted(kernel)) pass_.add_kernel(item);
    add_stack(kernel);
    advance();
  }
  void operator()(graph_record const& graph) {
    if (collector_ != nullptr) collector_->add(graph);
    enter(graph.start);
    auto const item = items_.of(graph);
    declared_.add(declared_launches::several, item.range);
    if (is_wanted(graph)) pass_.add_kernel(item);
    add_stack(graph);
  }
  void operator()(copy_record const& copy) {
    if (collector_ != nullptr) collector_->add(copy);
    enter(copy.start);
    if (is_wanted(copy)) pass_.add_transfer(items_.of(copy), key_of(copy), copy.bytes);
    add_stack(copy);
  }
  void operator()(memset_record const& fill) {
    if (collector_ != nullptr) collector_->add(fill);
    enter(fill.start);
    if (is_wanted(fill)) pass_.add_transfer(items_.of(fill), key_of(fill), fill.bytes);
    add_stack(fill);
  }
  void operator()(unified_memory_record const& migration) {
    if (migration.duration.value > 0)
      pass_.add_migration(migration.start, migration.start + migration.duration);
  }
  void operator()(read_launch_record const& reading) {
    pass_.add_reading(reading.device, reading.opened, reading.closed);
  }
  void operator()(hold_record const& hold) {
    pass_.add_hold(hold.start, hold.start + hold.duration);
  }
  void operator()(thread_sample_record const& row) {
    if (causes_ != nullptr) causes_->add(row);
  }
  void operator()(api_record const& call) {
    if (collector_ != nullptr) collector_->add(call);
    auto const& what = meaning_of(call.name);
    advance();
    if (what.kind == call_kind::other) return;
    if (causes_ != nullptr) causes_->add(call);
    if (call.os_thread != last_os_thread_) {
      last_os_thread_ = call.os_thread;
      last_thread_ = trace_.thread_of(call.os_thread);
    }
    if (stacks_ != nullptr && pass_.counts(call.start)) stacks_->add(call, last_thread_);
    pass_.add_call(last_thread_,
                   {.begin = call.start,
                    .end = call.start + call.duration,
                    .name = call.name,
                    .kind = what.kind,
                    .copies = what.copies},
                   call.correlation);
  }

 private:
  struct meaning {
    call_kind kind{};
    bool copies = false;
    bool is_known = false;
  };
  template <class Record>
  bool is_wanted(Record const& record) const {
    return wanted_ == nullptr || wanted_->keeps(record);
  }
  template <class Record>
  void add_stack(Record const& record) {
    if (stacks_ != nullptr && pass_.counts(record.start) && is_wanted(record)) stacks_->add(record);
  }
  /// Work that begins between two windows belongs to neither.
  void enter(timestamp_ns moment) {
    while (window_ + 1 < windows_.size() && moment >= windows_[window_ + 1].begin) {
      ++window_;
      pass_.begin_window(windows_[window_].begin, windows_[window_].end);
    }
  }
  meaning const& meaning_of(name_id name) {
    constexpr std::uint32_t largest_name = 1u << 24;  // only a damaged file has others
    auto const at = raw(name) <= largest_name ? raw(name) : 0;
    if (at >= meanings_.size()) meanings_.resize(at + 1);
    auto& known = meanings_[at];
    if (!known.is_known) {
      auto const text = trace_.text()(name_id{at});
      known = {kind_of_call(text), copies_memory(text), true};
    }
    return known;
  }
  void advance() {
    constexpr std::uint64_t step = 4096;
    if (++rows_ % step == 0) progress_(step);
  }

  trace_contents& trace_;
  gpu_items const& items_;
  timeline_pass& pass_;
  declared_launches& declared_;
  selection const* wanted_;
  std::vector<time_stretch> windows_;
  step_collector* collector_;  // gets all records; may be null
  stack_times* stacks_;        // null: the capture has no Python stacks
  idle_causes* causes_;        // null: its threads were not sampled
  std::size_t window_ = 0;
  read_progress const& progress_;
  std::vector<meaning> meanings_;  // by name_id
  std::uint64_t rows_ = 0;
  std::uint32_t last_os_thread_ = 0;  // of the last call
  thread_index last_thread_{};
};

}  // namespace gpuprof::host::command

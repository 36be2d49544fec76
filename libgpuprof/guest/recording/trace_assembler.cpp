// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/trace_assembler.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace gpuprof::guest {
namespace {

constexpr duration_ns max_record_wait{10'000'000'000};
constexpr std::size_t max_patterns = 1 << 15;  // more signatures than are ever read in a capture

}  // namespace

void unrecorded_launches::add(launch_note const& launch) {
  newest_ = std::max(newest_, launch.time);
  waiting_.push_back(launch);
}

void unrecorded_launches::see(kernel_record const& kernel) {
  auto const found = patterns_.find(kernel.correlation);
  if (found == patterns_.end() || found->second) return;
  found->second = kernel;
  --awaited_;
}

std::vector<kernel_record> unrecorded_launches::take() {
  std::vector<kernel_record> made;
  std::erase_if(waiting_, [&](launch_note const& launch) {
    auto const pattern = patterns_.find(launch.alike);
    if (pattern == patterns_.end() || !pattern->second)
      return launch.time + max_record_wait < newest_;  // it gets no record, and is counted as lost
    auto& record = made.emplace_back(*pattern->second);
    record.time_of = launch.alike;
    record.correlation = launch.correlation;
    // The duration is unknown if the clock was set back in between.
    if (launch.ran_from < launch.ran_to)
      record.duration = std::min(record.duration, launch.ran_to - launch.ran_from);
    record.start = {launch.ran_to.value - static_cast<std::uint64_t>(record.duration.value)};
    return true;
  });
  if (patterns_.size() > max_patterns && waiting_.empty()) {
    patterns_.clear();
    awaited_ = 0;
  }
  return made;
}
namespace {

constexpr std::size_t together = 256;  // kernels per batch: the totals are locked once for each
// A launch may run longer, but a launch whose record is lost must not hold up the others forever.
constexpr duration_ns max_wait{10'000'000'000};
// Records without a known launch are looked up repeatedly. If there are more than this, their
// launches were not seen.
constexpr std::size_t max_waiting = 10'000;

bool waits_for_record(launch const& l) noexcept {
  return !l.matched && !l.given_up && (l.flags == 0 || l.flags == launch_of_graph);
}

timestamp_ns just_before(timestamp_ns t) noexcept {
  return {t.value - 1};
}

}  // namespace

trace_assembler::trace_assembler(record_sink& to, name_registry const& names,
                                 kernel_predicate wants)
    : to_(to), names_(names), wants_(std::move(wants)) {
  finished_.reserve(together);
}

template <class Record>
void trace_assembler::write_if_inside(Record const& record, timestamp_ns t) {
  if (!windows_.contain(t)) return;
  ++progress_;
  to_.add(record);
}

void trace_assembler::open_window(window_record const& record) {
  windows_.open(record.start);
  last_window_ = record;
  to_.add(record);
  for (auto const& call : std::exchange(new_calls_, {})) api(call);
}

void trace_assembler::close_window(timestamp_ns end) {
  if (!window_open()) return;
  windows_.close(end);
  last_window_.end = end;
  to_.add(last_window_);
}

std::uint64_t trace_assembler::outstanding() const noexcept {
  return kernels_missing() + graphs_missing();
}

/// Nothing more is known of launches that were removed from the full table: their records arrive
/// without a launch.
std::uint64_t trace_assembler::kernels_missing() const noexcept {
  return counts_.launches - counts_.launches_matched - launches_.kernels_forgotten();
}

std::uint64_t trace_assembler::graphs_missing() const noexcept {
  return counts_.graph_launches - counts_.graph_launches_matched - launches_.graphs_forgotten();
}

timestamp_ns trace_assembler::complete_until(timestamp_ns flushed) noexcept {
  auto until = flushed;
  while (auto* const oldest = launches_.oldest(waits_for_record)) {
    if (oldest->time + max_wait >= flushed) {
      until = std::min(until, just_before(oldest->time));
      break;
    }
    oldest->given_up = true;
    ++counts_.launches_given_up;
  }
  auto const hold_back = [&](auto const& pending) {
    for (auto const& record : pending)
      if (record.start.value != 0 && windows_.may_hold(record.start, record.correlation))
        until = std::min(until, just_before(record.start));
  };
  hold_back(pending_kernels_);
  hold_back(pending_copies_);
  hold_back(pending_sets_);
  hold_back(pending_graphs_);
  if (auto const oldest = node_times_.oldest()) until = std::min(until, just_before(*oldest));
  return until;
}

/// No launch is given up here: without counters it keeps its thread and range however long
/// its work lasts.
timestamp_ns trace_assembler::launches_seen_until(timestamp_ns until) noexcept {
  auto const* const oldest = launches_.oldest(waits_for_record);
  return oldest != nullptr ? std::min(until, just_before(oldest->time)) : until;
}

void trace_assembler::launch(launch_note const& note) {
  if ((note.flags & (launch_failed | launch_captured)) != 0) return;
  if ((note.flags & launch_is_pattern) != 0) unrecorded_.keep(note.correlation);
  if (raw(note.alike) != 0) unrecorded_.add(note);
  auto const flags = static_cast<std::uint8_t>(note.flags & ~launch_is_pattern);
  gpuprof::guest::launch l;
  l.time = note.time;
  l.range = note.range;
  l.correlation = note.correlation;
  l.thread = note.thread;
  l.arguments = note.arguments;
  if (raw(note.kernel) >> gpuprof::guest::launch::name_bits == 0) l.kernel = note.kernel;
  l.flags = flags;
  l.stack = stacks_.of(note.thread, note.stack);
  windows_.saw(note.time, note.correlation);
  if (flags == 0) ++counts_.launches;
  if (flags == launch_of_graph) ++counts_.graph_launches;
  if (flags == launch_is_copy) ++counts_.copy_calls;
  launches_.insert(l);
}

void trace_assembler::begin(range_begin const& range) {
  ++counts_.ranges;
  to_.add(range);
}

void trace_assembler::end(range_end const& range) {
  to_.add(range);
}

void trace_assembler::mark(mark_record const& m) {
  ++counts_.marks;
  to_.add(m);
}

void trace_assembler::stack(stack_note const& note) {
  stacks_.add(note, to_);
}

void trace_assembler::graph_node(graph_node_note const& note) {
  stacks_.add(note);
}

void trace_assembler::sample(thread_sample_note const& note) {
  if (!windows_.contain(note.start)) return;
  to_.add(thread_sample_record{.start = note.start,
                               .duration = note.duration,
                               .os_thread = note.os_thread,
                               .state = note.state,
                               .looks = note.looks,
                               .on_core_ns = note.on_core_ns,
                               .wanted_core_ns = note.wanted_core_ns,
                               .stack = stacks_.of(note.sampler, note.stack),
                               .holder = stacks_.of(note.sampler, note.holder),
                               .is_child = note.is_child});
}

void trace_assembler::shape(kernel_shape const& s) {
  auto const index = static_cast<std::size_t>(raw(s.id));
  if (index >= shape_names_.size()) shape_names_.resize(index + 64);
  shape_names_[index] = s.name;
  shapes_ = std::max(shapes_, index + 1);
  auto const is_one_thread = s.grid == extent3{1, 1, 1} && s.block == extent3{1, 1, 1};
  if ((is_one_thread || !s.has_geometry()) && names_.text(s.name) == wait_kernel_of_cupti) {
    shape_is_cuptis_.resize(shape_names_.size());
    shape_is_cuptis_[index] = true;
  }
  if (launches_work_ && launches_work_(names_.text(s.name))) {
    shape_launches_.resize(shape_names_.size());
    shape_launches_[index] = true;
  }
  to_.add(s);
}

bool trace_assembler::wanted(shape_id shape) {
  if (!wants_) return true;
  auto const index = static_cast<std::size_t>(raw(shape));
  if (index >= shape_wanted_.size()) shape_wanted_.resize(index + 64);
  auto& answer = shape_wanted_[index];
  if (answer == 0) {
    auto const name =
        index < shape_names_.size() ? names_.text(shape_names_[index]) : std::string{};
    answer = wants_(name) ? 1 : 2;
  }
  return answer == 1;
}

bool trace_assembler::is_of_cupti(shape_id shape) const noexcept {
  auto const index = static_cast<std::size_t>(raw(shape));
  return index < shape_is_cuptis_.size() && shape_is_cuptis_[index];
}

bool trace_assembler::tells_more(gpuprof::guest::launch const& l, shape_id shape) const noexcept {
  auto const index = static_cast<std::size_t>(raw(shape));
  auto const is_another =
      raw(l.kernel) != 0 && index < shape_names_.size() && shape_names_[index] != l.kernel;
  return l.arguments != 0 || (is_another && !is_of_cupti(shape));
}

/// The GPU itself launches the contents of conditional graph nodes. CUPTI 13.0 gives these records
/// no correlation id, so only their time shows if they belong to a window.
template <class Record>
bool trace_assembler::may_belong(Record const& record) {
  if (raw(record.correlation) != 0) return windows_.may_hold(record.start, record.correlation);
  return windows_.contain(record.start);
}

/// Fills in thread, range and launch time, and for kernels also the shape of the launch. Returns
/// false if the record must wait or is not wanted.
template <class Record>
bool trace_assembler::attribute(Record& record, bool first_look, std::vector<Record>& pending) {
  auto* const l = launches_.find(record.correlation, record.start);
  auto const belongs = l != nullptr || may_belong(record);
  if (belongs) ++progress_;
  if (l == nullptr) {
    if (first_look) {
      pending.push_back(record);
      return false;
    }
    if (!belongs) ++counts_.outside;
    return belongs;
  }
  if (!l->matched) {
    l->matched = true;
    if (l->flags == 0) ++counts_.launches_matched;
    if (l->flags == launch_of_graph) ++counts_.graph_launches_matched;
    if (l->flags == launch_is_copy) ++counts_.copy_calls_matched;
  }
  record.launched = l->time;
  record.thread = l->thread;
  record.range = l->range;
  record.stack = l->stack;
  if constexpr (std::is_same_v<Record, kernel_record>) {
    auto const is_plain = raw(record.graph) == 0 && !l->is_graph();
    if (is_plain && shape_of_launch_ && tells_more(*l, record.shape))
      record.shape = shape_of_launch_(record.shape, l->kernel, l->arguments);
  }
  return (l->flags & launch_not_selected) == 0;
}

void trace_assembler::kernel(kernel_record const& record) {
  if (counters_are_read_ && is_of_cupti(record.shape)) return;
  finish_kernel(record, true);
}
void trace_assembler::copy(copy_record const& record) {
  finish_copy(record, true);
}
void trace_assembler::set(memset_record const& record) {
  finish_set(record, true);
}
void trace_assembler::graph(graph_record const& record) {
  finish_graph(record, true);
}

void trace_assembler::finish_kernel(kernel_record record, bool first_look) {
  auto const kept = attribute(record, first_look, pending_kernels_);
  if (record.start.value == 0) {
    // A kernel that was launched after the capture and still runs when its program ends is not a
    // loss.
    if (record.launched.value != 0) ++counts_.kernels_without_time;
    return;
  }
  if (!kept) {
    counts_.kernels_filtered += record.launched.value != 0;
    return;
  }
  if (!wanted(record.shape)) {
    ++counts_.kernels_filtered;
    return;
  }
  if (unrecorded_.awaits_patterns()) unrecorded_.see(record);
  auto const shape = static_cast<std::size_t>(raw(record.shape));
  counts_.launching_kernels += shape < shape_launches_.size() && shape_launches_[shape];
  if (record.launched.value == 0) ++counts_.kernels_unattributed;
  note_context(record.context, record.device);
  if (!computes_graphs_ || !node_times_.keep(record)) write_kernel(record);
}

void trace_assembler::write_kernel(kernel_record record) {
  ++counts_.kernels;
  record.stack = stacks_.in_graph(record.node, record.stack, to_);
  finished_.push_back(record);
  if (finished_.size() == together) hand_over();
}

void trace_assembler::hand_over() {
  if (finished_.empty()) return;
  std::span<kernel_record const> const kernels = finished_;
  to_.add(kernels);
  finished_.clear();
}

void trace_assembler::finish_copy(copy_record record, bool first_look) {
  if (!attribute(record, first_look, pending_copies_)) return;
  if (!computes_graphs_ || !node_times_.keep(record)) write_copy(record);
}

void trace_assembler::write_copy(copy_record record) {
  counts_.copies += record.copies();
  counts_.batched_copies += record.copies() - 1;
  note_context(record.context, record.device);
  record.stack = stacks_.in_graph(record.node, record.stack, to_);
  to_.add(record);
}

void trace_assembler::finish_set(memset_record record, bool first_look) {
  if (!attribute(record, first_look, pending_sets_)) return;
  if (!computes_graphs_ || !node_times_.keep(record)) write_set(record);
}

void trace_assembler::write_set(memset_record record) {
  ++counts_.sets;
  note_context(record.context, record.device);
  record.stack = stacks_.in_graph(record.node, record.stack, to_);
  to_.add(record);
}

void trace_assembler::finish_graph(graph_record record, bool first_look) {
  if (!attribute(record, first_look, pending_graphs_)) return;
  computes_graphs_ ? node_times_.add(record) : write_graph(record);
}

void trace_assembler::write_graph(graph_record const& record) {
  ++counts_.graphs;
  note_context(record.context, record.device);
  to_.add(record);
}

void trace_assembler::settle_graphs(node_times::bounds const& until) {
  counts_.graphs_computed += node_times_.take(
      until, {.kernel = [this](kernel_record const& kernel) { write_kernel(kernel); },
              .copy = [this](copy_record const& copy) { write_copy(copy); },
              .fill = [this](memset_record const& fill) { write_set(fill); },
              .unknown = [this](graph_record const& whole) { write_graph(whole); }});
}

void trace_assembler::settle_pending(timestamp_ns ended_before,
                                     node_times::bounds const& graphs_before) {
  auto const again = [&](auto& pending, auto finish) {
    auto const waiting = std::exchange(pending, {});
    auto const are_few = waiting.size() <= max_waiting;
    for (auto const& record : waiting) {
      auto const may_come = are_few && record.start + record.duration > ended_before &&
                            windows_.contain(record.start) &&
                            launches_.find(record.correlation, record.start) == nullptr;
      if (may_come)
        pending.push_back(record);
      else
        (this->*finish)(record, false);
    }
  };
  if (!pending_kernels_.empty()) again(pending_kernels_, &trace_assembler::finish_kernel);
  if (!unrecorded_.empty())
    for (auto const& record : unrecorded_.take()) finish_kernel(record, true);
  if (!pending_copies_.empty()) again(pending_copies_, &trace_assembler::finish_copy);
  if (!pending_sets_.empty()) again(pending_sets_, &trace_assembler::finish_set);
  if (!pending_graphs_.empty()) again(pending_graphs_, &trace_assembler::finish_graph);
  settle_graphs(graphs_before);
  hand_over();
}

void trace_assembler::api(api_record const& record) {
  if (!windows_.contain(record.start)) return;
  if (is_own_thread(record.os_thread) || own_stretches_.hold(record)) return;
  ++counts_.calls;
  ++progress_;
  to_.add(record);
}

void trace_assembler::call(driver_call_note const& note) {
  api_record const made{.start = note.start,
                        .duration = note.duration,
                        .domain = api_domain::driver,
                        .name = name_of_call_ ? name_of_call_(note.id) : name_id{},
                        .os_thread = note.os_thread,
                        .correlation = note.correlation,
                        .result = note.result,
                        .stack = stacks_.of(note.thread, note.stack)};
  if (windows_.contain(note.start)) return api(made);
  new_calls_.push_back(made);
}

void trace_assembler::sync(sync_record const& record) {
  write_if_inside(record, record.start);
}

void trace_assembler::memory(memory_record const& record) {
  write_if_inside(record, record.time);
}

void trace_assembler::unified_memory(unified_memory_record const& record) {
  write_if_inside(record, record.start);
}

void trace_assembler::note_context(context_id context, device_id device) {
  if (std::exchange(last_context_, context) == context) return;
  if (contexts_.insert(context).second) to_.add(context_record{context, device});
}

void trace_assembler::report(ledger& to) const {
  to.add("seen.launches", counts_.launches);
  to.add("seen.graph_launches", counts_.graph_launches);
  to.add("seen.kernels", counts_.kernels);
  to.add("seen.kernels_filtered", counts_.kernels_filtered);
  to.add("seen.kernels_unattributed", counts_.kernels_unattributed);
  to.add("note.batched_copies", counts_.batched_copies);
  to.add("note.graph_launches_computed", counts_.graphs_computed);
  to.add("note.records_outside_captures", counts_.outside);
  to.add("note.launches_not_waited_for", counts_.launches_given_up);
  auto const open = window_open();  // launches that still run are not lost
  to.add("lost.kernels", open ? 0 : kernels_missing());
  to.add("lost.graph_launches", open ? 0 : graphs_missing());
  to.add("lost.work_of_launching_kernels", counts_.launching_kernels);
  to.add("lost.kernels_without_time", counts_.kernels_without_time);
  to.add("lost.launch_notes", launches_forgotten());
  to.add("lost.stacks", stacks_.refused());
  to.add("note.graph_nodes_forgotten", stacks_.forgotten_nodes());
  to.add("memory.launch_table_bytes", table_bytes());
}

}  // namespace gpuprof::guest

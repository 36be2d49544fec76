// SPDX-License-Identifier: Apache-2.0
// Matches GPU work with its launches and passes the finished records on.
#pragma once

#include "base/ledger.hpp"
#include "guest/collect/activity_decoder.hpp"
#include "guest/collect/launch_table.hpp"
#include "guest/nvtx/log_decoder.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/recording/capture_windows.hpp"
#include "guest/recording/node_times.hpp"
#include "guest/recording/own_stretches.hpp"
#include "guest/recording/stack_tree.hpp"
#include "model/ids.hpp"
#include "model/record_sink.hpp"
#include "model/records.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gpuprof::guest {

/// Makes records for launches during which kernel records were off. Each is a copy of the record of
/// a launch with the same signature, with its duration. The time that the launching thread measured
/// would be too long: it includes launch and wait.
///
/// For one thread. A pattern is a launch whose record is kept permanently. There is one for each
/// signature whose launches are read without kernel records.
class unrecorded_launches {
 public:
  /// The record of this launch will come.
  void keep(correlation_id pattern) {
    auto const [known, is_new] = patterns_.try_emplace(pattern);
    if (!is_new && !known->second) return;
    known->second.reset();  // the correlation id is used again
    ++awaited_;
  }
  bool awaits_patterns() const noexcept { return awaited_ != 0; }
  void see(kernel_record const& kernel);
  void add(launch_note const& launch);
  /// Returns records of launches whose pattern has come. They end when the launching thread saw
  /// them end. Stream and launch are copied from the pattern.
  std::vector<kernel_record> take();
  bool empty() const noexcept { return waiting_.empty(); }

 private:
  std::unordered_map<correlation_id, std::optional<kernel_record>> patterns_;
  std::size_t awaited_ = 0;
  std::vector<launch_note> waiting_;
  timestamp_ns newest_;
};

/// Counts what the captures recorded and missed, summed over all windows so far.
struct trace_counts {
  std::uint64_t launches = 0;          // kernel launches seen in windows, which must have a record
  std::uint64_t launches_matched = 0;  // of these, launches with a kernel record
  std::uint64_t graph_launches = 0;
  std::uint64_t graph_launches_matched = 0;
  std::uint64_t copy_calls = 0;  // memcpy and memset calls; some kinds of them yield no record
  std::uint64_t copy_calls_matched = 0;
  std::uint64_t kernels = 0;               // records written
  std::uint64_t kernels_unattributed = 0;  // of these, kernels without a known launch
  std::uint64_t kernels_without_time = 0;  // launched in windows, but their records have no times
  std::uint64_t kernels_filtered = 0;      // excluded by the user's kernel filters
  std::uint64_t outside = 0;               // records of work outside all windows
  std::uint64_t launches_given_up = 0;     // launches whose record is no longer waited for
  std::uint64_t launching_kernels = 0;     // kernels written that can launch work from the GPU
  std::uint64_t graphs_computed = 0;       // launches of whole graphs whose work was computed
  std::uint64_t batched_copies = 0;        // copies in batches, except the first of each record
  std::uint64_t copies = 0, sets = 0, graphs = 0, ranges = 0, marks = 0, calls = 0;
};

/// Used by the drain thread only.
class trace_assembler final : public activity_sink {
 public:
  using kernel_predicate = std::function<bool(std::string_view mangled)>;

  /// `to` receives the finished records. `wants` is the name filter for kernels in graphs, which
  /// have no launch of their own; empty: all.
  trace_assembler(record_sink& to, name_registry const& names, kernel_predicate wants);

  void open_window(window_record const&);
  void close_window(timestamp_ns end);
  bool window_open() const noexcept { return windows_.is_open(); }
  void clock_is_at(timestamp_ns now) noexcept { windows_.clock_is_at(now); }

  /// Call when every window that covers the events read from the rings so far has been opened here.
  void windows_are_known() noexcept {
    windows_.are_known();
    new_calls_.clear();
  }

  // Read from the threads' rings.
  void launch(launch_note const&);
  void call(driver_call_note const&);
  void begin(range_begin const&);
  void end(range_end const&);
  void mark(mark_record const&);
  void stack(stack_note const&);
  void sample(thread_sample_note const&);
  void graph_node(graph_node_note const&);

  /// Launches whose records may come.
  launch_table& launches() noexcept { return launches_; }

  // Read from CUPTI's buffers.
  void shape(kernel_shape const&) override;
  void kernel(kernel_record const&) override;
  void graph(graph_record const&) override;
  void copy(copy_record const&) override;
  void set(memset_record const&) override;
  void api(api_record const&) override;
  void sync(sync_record const&) override;
  void memory(memory_record const&) override;
  void unified_memory(unified_memory_record const&) override;

  /// Tries again to find launches for records whose launch had not been read from its ring. Work
  /// that ended before `ended_before` stays without a launch. Later work waits longer: on a busy
  /// machine, its launching call may not have returned yet. `graphs_before`: the same for the
  /// records of launches of graphs.
  void settle_pending(timestamp_ns ended_before = {~std::uint64_t{0}},
                      node_times::bounds const& graphs_before = {{~std::uint64_t{0}}});
  /// Returns a moment, `until` or earlier: each launch before it has had a record.
  timestamp_ns launches_seen_until(timestamp_ns until) noexcept;
  /// Finished kernels are passed on in batches. This passes on the rest. Call it before using
  /// anything that receives them.
  void hand_over();

  /// Sets how to get the shape of a launch if more is known of it than its record says. The
  /// function returns the shape of the given record with this kernel and these arguments (0:
  /// unchanged), and has passed it to shape(). Without it, launches keep the shapes of their
  /// records.
  using shape_of_launch =
      std::function<shape_id(shape_id, name_id kernel, std::uint32_t arguments)>;
  void tell_launches_apart(shape_of_launch how) { shape_of_launch_ = std::move(how); }
  /// Sets how to get CUPTI's name of a driver function. Without it, calls have no name.
  using name_of_call = std::function<name_id(std::uint32_t id)>;
  void name_calls(name_of_call how) { name_of_call_ = std::move(how); }
  /// Sets how to find kernels that can launch work from the GPU, of which CUPTI has no record.
  /// Without it, none are found.
  void find_launching_kernels(kernel_predicate how) { launches_work_ = std::move(how); }
  /// The profiler makes calls of its own in this stretch of a program thread.
  void own_calls_made(own_calls_note const& where) { own_stretches_.add(where); }
  /// Graphs are recorded as wholes, and some of their launches by nodes: the kernels, copies and
  /// fills of the others are computed from these. They come late.
  void compute_graphs() noexcept { computes_graphs_ = true; }
  /// True if that would leave out kernels.
  bool graphs_need_nodes() const noexcept { return node_times_.lacks_launches(); }
  /// Before each launch that it counts, CUPTI runs its own kernel WaitNs with the launch's
  /// correlation id. After this call, its records are skipped.
  void counters_are_read() noexcept { counters_are_read_ = true; }
  /// Returns the names of all shapes so far, indexed by shape id.
  std::span<name_id const> kernel_names() const noexcept { return {shape_names_.data(), shapes_}; }
  /// Return the number of launches without a record: of kernels, of graphs, of both. The number of
  /// records of a graph is unknown, so a graph counts until its first record.
  std::uint64_t kernels_missing() const noexcept;
  std::uint64_t graphs_missing() const noexcept;
  std::uint64_t outstanding() const noexcept;
  /// Returns a moment up to which all work that was launched or began has been passed on. It is at
  /// most `flushed`, the time when CUPTI was last flushed. A running kernel holds back the records
  /// of others and so this moment, but only for some seconds.
  timestamp_ns complete_until(timestamp_ns flushed) noexcept;
  /// Increases with every record of work in a window. Records of later work do not count: they do
  /// not show that the last records of a capture have arrived.
  std::uint64_t progress() const noexcept { return progress_; }
  std::uint64_t copies_outstanding() const noexcept {
    return counts_.copy_calls - counts_.copy_calls_matched;
  }
  trace_counts const& counts() const noexcept { return counts_; }
  /// See stack_tree.
  std::vector<source_place> take_new_places() { return stacks_.take_new_places(); }
  std::vector<std::uint32_t> take_new_binaries() { return stacks_.take_new_binaries(); }
  void report(ledger& to) const;
  std::uint64_t launches_forgotten() const noexcept { return launches_.overwritten(); }
  std::size_t table_bytes() const noexcept { return launches_.bytes(); }

 private:
  template <class Record>
  bool may_belong(Record const& record);
  template <class Record>
  bool attribute(Record& record, bool first_look, std::vector<Record>& pending);
  template <class Record>
  void write_if_inside(Record const& record, timestamp_ns t);
  bool wanted(shape_id shape);
  bool is_of_cupti(shape_id shape) const noexcept;
  bool tells_more(gpuprof::guest::launch const& l, shape_id shape) const noexcept;
  void finish_kernel(kernel_record record, bool first_look);
  void finish_copy(copy_record record, bool first_look);
  void finish_set(memset_record record, bool first_look);
  void finish_graph(graph_record record, bool first_look);
  void write_kernel(kernel_record record);
  void write_copy(copy_record record);
  void write_set(memset_record record);
  void write_graph(graph_record const& record);
  void settle_graphs(node_times::bounds const& until);
  void note_context(context_id context, device_id device);

  record_sink& to_;
  name_registry const& names_;
  kernel_predicate wants_;
  launch_table launches_;
  trace_counts counts_;
  std::uint64_t progress_ = 0;
  capture_windows windows_;
  window_record last_window_;
  std::vector<api_record> new_calls_;  // calls whose window may not have been opened here yet
  std::vector<name_id> shape_names_;   // by shape id
  std::size_t shapes_ = 0;             // number of shapes seen
  std::vector<bool> shape_is_cuptis_;  // by shape id
  bool counters_are_read_ = false;
  shape_of_launch shape_of_launch_;
  name_of_call name_of_call_;
  std::vector<std::uint8_t> shape_wanted_;   // by shape id: 0 not checked yet, 1 yes, 2 no
  std::unordered_set<context_id> contexts_;  // contexts already described
  std::optional<context_id> last_context_;
  unrecorded_launches unrecorded_;
  kernel_predicate launches_work_;
  std::vector<bool> shape_launches_;     // by shape id
  std::vector<kernel_record> finished_;  // not passed on yet
  std::vector<kernel_record> pending_kernels_;
  std::vector<copy_record> pending_copies_;
  std::vector<memset_record> pending_sets_;
  std::vector<graph_record> pending_graphs_;
  own_stretches own_stretches_;
  stack_tree stacks_;
  bool computes_graphs_ = false;
  node_times node_times_;
};

}  // namespace gpuprof::guest

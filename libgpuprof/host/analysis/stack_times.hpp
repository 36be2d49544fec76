// SPDX-License-Identifier: Apache-2.0
// Adds up the GPU work, the idle time behind it and the waits of each Python stack, then of each
// line, function or file of the program.
#pragma once

#include "host/analysis/inferred_times.hpp"
#include "model/own_files.hpp"
#include "model/records.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::host {

/// Numbers may be fractions: work that has no stack of its own is spread over those that have.
struct stack_sum {
  double launches = 0;  // kernels, copies, memsets and whole graphs
  double gpu_ns = 0;    // their lengths added up; work of several streams counts several times
  double copy_ns = 0;   // of it: copies and fills
  double idle_ns = 0;   // the GPU did nothing between this work and the next that began
  double wait_ns = 0;   // CUDA calls that wait, allocate or load
  double cpu_ns = 0;    // of threads that were sampled, on a core
  double bytes = 0;     // allocated by calls of the driver

  stack_sum& operator+=(stack_sum const& more) noexcept;
};

/// Give it GPU work in order of time, then call finish().
class stack_times {
 public:
  /// What ran: the shape of a kernel, the kind of a copy. Launches of one thread that ran the same
  /// are alike: their stacks speak for those that have none.
  void add(kernel_record const& kernel);
  void add(copy_record const& copy);
  void add(memset_record const& set);
  void add(graph_record const& graph);
  /// `thread`: of the call, which allocated so many bytes.
  void add(api_record const& call, thread_index thread, std::uint64_t bytes = 0);
  void add(thread_sample_record const& row);

  struct ran {
    enum class kind : std::uint8_t { kernel, call, other } is;
    std::uint32_t id;  // shape_id of a kernel, name_id of a call
  };
  /// Calls use(ran, stack_id, stack_sum const&) for what has a stack of its own.
  void each_recorded(std::function<void(ran, stack_id, stack_sum const&)> const& use) const;

  /// Spreads the work without a stack over the stacks of its thread: first over those of work that
  /// ran the same, else over all. `are_native`: by stack, whether all its frames are native. Only
  /// calls of some kinds may have these: on a thread that has no others, they speak for the same
  /// work alone.
  void finish(std::vector<bool> const& are_native = {});

  std::map<stack_id, stack_sum> const& stacks() const noexcept { return stacks_; }
  /// Work of threads that have no stack at all, or none of such work.
  std::map<thread_index, stack_sum> const& without_stack() const noexcept { return others_; }
  /// Part of the launches on threads with stacks whose stack was recorded, from 0 to 1.
  double recorded_share() const noexcept {
    return on_such_threads_ > 0 ? with_stack_ / on_such_threads_ : 1;
  }
  stack_sum const& all() const noexcept { return all_; }
  /// What the GPU time of these stacks owes to launches of graphs that have the times of others.
  inferred_time inferred(std::vector<stack_id> const& stacks) const;

 private:
  using sums = std::unordered_map<stack_id, stack_sum>;
  struct last_work {
    timestamp_ns until;
    stack_sum* sum = nullptr;  // of the work that ends last
  };

  template <class Work>
  void add_work(Work const& work, std::uint32_t what);
  stack_sum& sum_of(thread_index thread, std::uint32_t what, stack_id stack);
  void spread(thread_index thread, stack_sum const& sum, sums const& over);

  std::unordered_map<std::uint64_t, sums> alike_;  // by thread and what ran
  std::unordered_map<device_id, last_work> devices_;
  std::map<stack_id, stack_sum> stacks_;
  std::map<thread_index, stack_sum> others_;
  // The time on cores is known of a thread; looks say which of its stacks had it.
  struct seen_running {
    double on_core_ns = 0, looks = 0;
    std::map<stack_id, double> looks_of;
  };
  std::map<std::uint32_t, seen_running> running_;  // by os_thread
  stack_sum all_;
  inferred_times inferred_;  // lines are stacks
  double with_stack_ = 0, on_such_threads_ = 0;
};

/// By stack: true if it has no frame of Python. `stacks` is indexed by stack_id.
std::vector<bool> native_only(std::vector<stack_record> const& stacks);

/// What a row of a table of stacks stands for.
enum class stack_grouping { line, function, file, module };

/// One row: the innermost frame of the stacks that it adds up, as far as the grouping tells it.
struct stack_group {
  stack_record frame;
  stack_sum own;                 // of stacks whose innermost frame of the program this is
  stack_sum total;               // of all stacks in which it occurs
  std::vector<stack_id> stacks;  // those of `own`
};

/// Says whether a file belongs to the program and not to a library that it uses.
using is_own_file = std::function<bool(std::string_view file)>;

/// The innermost frame of a stack that is_own; null: there is none. `stacks` is indexed by
/// stack_id.
stack_record const* own_frame(std::vector<stack_record> const& stacks, stack_id stack,
                              std::function<bool(stack_record const&)> const& is_own);

/// Most GPU time first. A stack counts for its innermost frame that is_own; without such a frame,
/// for its innermost one. `stacks` is indexed by stack_id.
std::vector<stack_group> group_stacks(stack_times const& times,
                                      std::vector<stack_record> const& stacks,
                                      stack_grouping grouping,
                                      std::function<bool(stack_record const&)> const& is_own);

}  // namespace gpuprof::host

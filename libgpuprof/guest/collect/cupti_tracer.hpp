// SPDX-License-Identifier: Apache-2.0
// Switches CUPTI's tracing on and off: subscriber, callbacks, activity kinds, buffers.
#pragma once

#include "base/bounded_queue.hpp"
#include "base/ledger.hpp"
#include "base/result.hpp"
#include "guest/collect/buffer_pool.hpp"
#include "guest/collect/graph_level.hpp"
#include "guest/collect/launch_callbacks.hpp"
#include "guest/collect/switch_guard.hpp"
#include "guest/cupti/guard.hpp"
#include "guest/cupti/known_defects.hpp"
#include "guest/cupti/loader.hpp"
#include "guest/cupti/sharing/other_client_observer.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::guest {

class shared_cupti;

struct trace_options {
  bool cuda_api = false;        // runtime and driver API records
  bool blocking_calls = false;  // without those: what blocking_calls.hpp lists, of the driver
  bool cuda_memory = false;     // device memory allocation and release
  bool unified_memory = false;
  bool sync = false;
  bool whole_graphs = false;  // one record per graph launch instead of one per node
};

/// Which calls of the runtime and the driver are recorded.
enum class recorded_calls : std::uint8_t { none, blocking, all };

/// A buffer CUPTI has filled and handed back.
struct filled_buffer {
  buffer_pool::buffer buffer;
  std::size_t used = 0;
};

/// One per process, never destroyed. attach(), start(), stop() and the rest are called by one
/// thread at a time (the session sees to that); the buffer callbacks run on any thread. Holds no
/// lock anywhere.
class cupti_tracer {
 public:
  /// With the libcupti that load_cupti() finds; the error is its. `shares`: with the program's own
  /// client of CUPTI.
  static result<std::unique_ptr<cupti_tracer>> make(unsigned driver_major, bool shares,
                                                    memory_budget& budget, std::size_t buffer_bytes,
                                                    launch_callbacks& callbacks);
  cupti_tracer(loaded_cupti const& cupti, memory_budget& budget, std::size_t buffer_bytes,
               launch_callbacks& callbacks);

  /// Takes CUPTI's one subscriber slot and listens for cudaProfilerStart/Stop. Nothing is traced
  /// yet.
  result<void> attach();
  bool attached() const noexcept { return subscriber() != nullptr; }

  /// Starts recording. A feature that cannot be had is left out and named in `warnings`; without
  /// kernel records it is an error.
  result<void> start(trace_options const& options, std::vector<std::string>& warnings);
  /// Something was asked for that CUPTI refuses until cuInit has returned: call start_the_rest()
  /// then.
  bool waits_for_cuda() const noexcept { return waits_for_cuda_.load(std::memory_order_acquire); }
  void start_the_rest(std::vector<std::string>& warnings) { enable_unified_memory(warnings); }
  /// Any thread. Since the latest start().
  recorded_calls calls_recorded() const noexcept {
    return calls_recorded_.load(std::memory_order_relaxed);
  }
  /// Likewise: pages of unified memory that travel have a record.
  bool records_unified_memory() const noexcept {
    return records_unified_memory_.load(std::memory_order_relaxed);
  }
  /// Stops recording; what CUPTI holds is still to be flushed. False, and nothing done, when code
  /// or a context is taken away and that lasts: try again later.
  bool stop() noexcept;
  /// Leaves CUPTI altogether: the program runs at full speed again. One that cannot be left (see
  /// known_defects) is only stopped. False, and nothing done, while another thread is flushing, or
  /// takes code or a context away: try again later.
  bool leave() noexcept;
  /// Any thread. CUPTI has torn itself down (fatal error): from now on nothing is asked of it.
  void abandon() noexcept;

  /// Asks CUPTI for its full buffers (`forced`: for all of them), and for what it dropped. False
  /// when another thread is doing that right now. May take long: whoever empties the buffers does
  /// so meanwhile, or there is no room for what comes.
  bool flush(bool forced) noexcept;
  /// Else only where records would be lost.
  bool may_flush_at_any_time() const noexcept { return !defects_.should_not_flush; }
  /// The next filled buffer, oldest first.
  std::optional<filled_buffer> next_filled() noexcept { return filled_.pop(); }
  buffer_pool& pool() noexcept { return pool_; }

  void report(ledger& to) const {
    to.add("lost.records_dropped_by_cupti", dropped());
    to.add("lost.buffers_refused", pool_.refusals());
    to.add("lost.buffers", buffers_lost());
    to.add("note.foreign_buffers", foreign_buffers());
    graphs_.report(to);
  }
  /// Records CUPTI itself says it dropped, from attach() to the last flush.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  /// Buffers that came back while the queue was full (cannot happen within the budget; counted all
  /// the same).
  std::uint64_t buffers_lost() const noexcept {
    return buffers_lost_.load(std::memory_order_relaxed);
  }

  /// Buffers of another CUPTI client that CUPTI handed to us: he has registered his own callbacks
  /// beside ours.
  std::uint64_t foreign_buffers() const noexcept {
    return foreign_buffers_.load(std::memory_order_relaxed);
  }

  graph_level const& graphs() const noexcept { return graphs_; }

  /// Kernel records, which some readings of counters must do without.
  kernel_switch& kernels() noexcept { return kernels_; }

  /// The next driver call to end, of whatever kind, reaches launch_callbacks::leave_at_next_call().
  void listen_to_any_call() noexcept;

  /// Whether the program's own client records, and who is to be told of it; never, and nobody,
  /// where CUPTI is not shared.
  bool other_client_records() const noexcept;
  void observe_other_client(other_client_observer& observer) noexcept;

  /// "GH100"; empty when this CUPTI cannot tell.
  std::string chip_name(std::size_t device) const;

  loaded_cupti const& library() const noexcept { return cupti_; }

 private:
  result<void> subscribe();
  void unsubscribe() noexcept;
  result<void> start_kinds(trace_options const& options, std::vector<std::string>& warnings);
  void stop_kinds() noexcept;
  void set_attributes() noexcept;
  result<void> enable_callbacks_at_rest();
  result<void> enable_launch_callbacks();
  void enable_kind(CUpti_ActivityKind kind, char const* what_is_lost,
                   std::vector<std::string>& warnings);
  void enable_calls(trace_options const& options, std::vector<std::string>& warnings);
  void enable_blocking_calls(std::vector<std::string>& warnings);
  void disable_blocking_calls() noexcept;
  result<void> switch_unified_memory_on(CUptiResult& code);
  void enable_unified_memory(std::vector<std::string>& warnings);
  using call_classes = std::initializer_list<call_class>;
  bool is_only_blocking(std::uint32_t driver_cbid) const noexcept;
  template <class Which>
  result<void> enable_driver_calls(Which which);
  template <class Which>
  void disable_driver_calls(Which which) noexcept;
  result<void> enable_driver_calls(call_classes classes);
  void disable_driver_calls(call_classes classes) noexcept;
  void switch_resource_callbacks(bool on) noexcept;
  void listen_to_graphs() noexcept;
  void choose_graph_levels(std::vector<std::string>& warnings);
  void fetch_dropped() noexcept;
  CUpti_SubscriberHandle subscriber() const noexcept {
    return subscriber_.load(std::memory_order_acquire);
  }

  static void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size,
                                      std::size_t* max_records);
  static void CUPTIAPI complete_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer,
                                       std::size_t size, std::size_t used);

  loaded_cupti const& cupti_;
  shared_cupti* shared_ = nullptr;
  known_defects const defects_;
  cupti_guard const guard_;
  launch_callbacks& callbacks_;
  buffer_pool pool_;
  bounded_queue<filled_buffer> filled_;
  std::atomic<CUpti_SubscriberHandle> subscriber_{nullptr};
  undo_stack running_;  // undoes start()
  kernel_switch kernels_;
  graph_level graphs_;
  std::atomic<bool> waits_for_cuda_{false};
  std::atomic<recorded_calls> calls_recorded_{recorded_calls::none};
  std::atomic<bool> records_unified_memory_{false};
  // Held by whoever flushes or leaves; nobody waits for it.
  std::atomic_flag in_flush_ = ATOMIC_FLAG_INIT;
  std::atomic<std::uint64_t> buffers_lost_{0};
  std::atomic<std::uint64_t> foreign_buffers_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace gpuprof::guest

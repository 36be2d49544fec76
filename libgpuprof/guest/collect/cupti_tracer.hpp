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
  bool blocking_calls = false;  // if cuda_api is off: the driver calls in blocking_calls.hpp
  bool cuda_memory = false;     // device memory allocation and release
  bool unified_memory = false;
  bool sync = false;
  bool whole_graphs = false;  // one record per graph launch instead of one per node
  // With whole_graphs: as graph_level::begin().
  bool some_by_nodes = false;
  std::uint32_t nodes_budget_millionths = 0;
};

/// Which calls of the runtime and the driver are recorded.
enum class recorded_calls : std::uint8_t { none, blocking, all };

/// A buffer CUPTI has filled and handed back.
struct filled_buffer {
  buffer_pool::buffer buffer;
  std::size_t used = 0;
};

/// One per process, never destroyed. Only one thread at a time may call attach(), start(), stop()
/// and the rest (the session ensures that); the buffer callbacks run on any thread. Holds no locks.
class cupti_tracer {
 public:
  /// Uses the libcupti that load_cupti() finds, and returns its error. `shares`: CUPTI is shared
  /// with the program's own CUPTI client.
  static result<std::unique_ptr<cupti_tracer>> make(unsigned driver_major, bool shares,
                                                    memory_budget& budget, std::size_t buffer_bytes,
                                                    launch_callbacks& callbacks);
  cupti_tracer(loaded_cupti const& cupti, memory_budget& budget, std::size_t buffer_bytes,
               launch_callbacks& callbacks);

  /// Takes CUPTI's one subscriber slot and listens for cudaProfilerStart/Stop. Nothing is traced
  /// yet.
  result<void> attach();
  bool attached() const noexcept { return subscriber() != nullptr; }

  /// Starts recording. A feature that is not available is left out and named in `warnings`. Missing
  /// kernel records are an error.
  result<void> start(trace_options const& options, std::vector<std::string>& warnings);
  /// True if CUPTI refuses a requested feature until cuInit has returned: call start_the_rest()
  /// then.
  bool waits_for_cuda() const noexcept { return waits_for_cuda_.load(std::memory_order_acquire); }
  void start_the_rest(std::vector<std::string>& warnings) { enable_unified_memory(warnings); }
  /// Any thread. Which calls are recorded since the latest start().
  recorded_calls calls_recorded() const noexcept {
    return calls_recorded_.load(std::memory_order_relaxed);
  }
  /// Any thread. True if migrations of unified memory pages are recorded since the latest start().
  bool records_unified_memory() const noexcept {
    return records_unified_memory_.load(std::memory_order_relaxed);
  }
  /// Stops recording; what CUPTI holds must still be flushed. Returns false and does nothing if the
  /// program is unloading code or ending a context and that takes long: try again later.
  bool stop() noexcept;
  /// Detaches from CUPTI: the program runs at full speed again. If this CUPTI must not be finalized
  /// (see known_defects), recording is only stopped. Returns false and does nothing while another
  /// thread is flushing, unloading code or ending a context: try again later.
  bool leave() noexcept;
  /// Any thread. CUPTI has shut itself down (fatal error): it is not called from now on.
  void abandon() noexcept;

  /// Asks CUPTI for its full buffers (`forced`: for all of them) and for the number of dropped
  /// records. Returns false if another thread is flushing right now. May take long: another thread
  /// must empty the buffers meanwhile, or there is no room for new records.
  bool flush(bool forced) noexcept;
  /// If false, flush only if records would be lost otherwise.
  bool may_flush_at_any_time() const noexcept { return !defects_.should_not_flush; }
  /// Returns the next filled buffer, oldest first.
  std::optional<filled_buffer> next_filled() noexcept { return filled_.pop(); }
  buffer_pool& pool() noexcept { return pool_; }

  void report(ledger& to) const {
    to.add("lost.records_dropped_by_cupti", dropped());
    to.add("lost.buffers_refused", pool_.refusals());
    to.add("lost.buffers", buffers_lost());
    to.add("note.foreign_buffers", foreign_buffers());
    graphs_.report(to);
  }
  /// Number of records that CUPTI reported as dropped, from attach() to the last flush.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  /// Buffers that came back while the queue was full. That cannot happen within the budget, but is
  /// counted.
  std::uint64_t buffers_lost() const noexcept {
    return buffers_lost_.load(std::memory_order_relaxed);
  }

  /// Buffers of another CUPTI client that CUPTI handed to us, because that client registered its
  /// own callbacks beside ours.
  std::uint64_t foreign_buffers() const noexcept {
    return foreign_buffers_.load(std::memory_order_relaxed);
  }

  graph_level const& graphs() const noexcept { return graphs_; }
  graph_level& graphs() noexcept { return graphs_; }

  /// Switches kernel records, which must be off during some readings of counters.
  kernel_switch& kernels() noexcept { return kernels_; }

  /// Makes the end of any driver call reach launch_callbacks::leave_at_next_call().
  void listen_to_any_call() noexcept;

  /// Tells whether the program's own CUPTI client records, and sets the observer of that. If CUPTI
  /// is not shared: false, and the observer is never called.
  bool other_client_records() const noexcept;
  void observe_other_client(other_client_observer& observer) noexcept;

  /// Returns for example "GH100", or an empty string if this CUPTI cannot tell.
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
  void listen_to_graphs(trace_options const& options);
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
  // Set by a thread that flushes or leaves. Other threads do not wait for it.
  std::atomic_flag in_flush_ = ATOMIC_FLAG_INIT;
  std::atomic<std::uint64_t> buffers_lost_{0};
  std::atomic<std::uint64_t> foreign_buffers_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Runs inside CUPTI's callbacks: notes launches and blocking calls, and passes on the few events
// that control a capture.
#pragma once

#include "guest/collect/blocking_calls.hpp"
#include "guest/collect/graph_level.hpp"
#include "guest/collect/kernel_names.hpp"
#include "guest/collect/switch_guard.hpp"
#include "guest/cupti/api.hpp"
#include "guest/cupti/call_parameters.hpp"
#include "guest/cupti/launch_gate.hpp"
#include "guest/nvtx/thread_log.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gpuprof::guest {

/// Tells which release of a GPU's primary context destroys it. The driver only says if the context
/// is retained, not how often. So this counts the calls that it sees: a release that matches a
/// retain seen here leaves the context to earlier owners; any other may be the last. Any thread.
class primary_contexts {
 public:
  /// Tells whether the primary context of a device is active (retained).
  using question = bool (*)(int device) noexcept;
  void ask(question is_active) noexcept { is_active_.store(is_active); }

  /// Callbacks were off until now, so earlier calls are unknown.
  void forget() noexcept {
    for (auto& context : held_) {
      context.heard_of.store(0);
      context.others.store(true);
    }
  }
  /// Call these before and after a call that retains.
  void retain_begins(int device) noexcept {
    auto const is_active = is_active_.load();
    if (is_active == nullptr || is_active(device)) return;
    at(device).heard_of.store(0);  // not retained: from here on all owners are known
    at(device).others.store(false);
  }
  void retain_ended(int device) noexcept { at(device).heard_of.fetch_add(1); }
  /// Call it before a call that releases. Returns true if that call may destroy the context.
  bool release_begins(int device) noexcept {
    auto& context = at(device);
    auto before = context.heard_of.load();
    while (before > 0 && !context.heard_of.compare_exchange_weak(before, before - 1)) {
    }
    return before == 0 || (before == 1 && !context.others.load());
  }

 private:
  struct held {
    std::atomic<int> heard_of{0};
    std::atomic<bool> others{true};  // retained before callbacks were on
  };
  static constexpr std::size_t devices = 64;  // devices beyond this share places

  held& at(int device) noexcept { return held_[static_cast<unsigned>(device) % devices]; }

  std::atomic<question> is_active_{nullptr};
  std::array<held, devices> held_{};
};

/// Receives events on the program's own threads, inside the callback: implementations must be quick
/// and must not call CUDA.
class cuda_event_observer {
 public:
  virtual ~cuda_event_observer() = default;
  virtual void profiler_start() noexcept = 0;  // after cudaProfilerStart / cuProfilerStart
  virtual void profiler_stop() noexcept = 0;   // before cudaProfilerStop / cuProfilerStop
  /// Called before a context is destroyed or reset: its records must be fetched now.
  virtual void context_ending() noexcept = 0;
  virtual void cupti_failed(CUptiResult code,
                            char const* message) noexcept = 0;  // CUPTI has shut itself down
  virtual void leave_cupti() noexcept = 0;  // at the end of an API call, after leave_at_next_call()
  /// True if the launch filters select this launch. Called only if filters are set.
  virtual bool is_selected(char const* kernel) noexcept = 0;
};

/// Receives loaded machine code, on the thread that loads it, inside the callback: must not call
/// CUDA.
class code_observer {
 public:
  virtual ~code_observer() = default;
  /// A module has been loaded. `image` is a cubin, there only during the call.
  virtual void code_loaded(std::span<std::uint8_t const> image) noexcept = 0;
};

enum class call_class : std::uint8_t {
  none,
  kernel,
  many_kernels,
  copy,
  stream_work,  // other work that a stream does or waits for
  stream_end,
  context_wait,
  work_wait,
  profiler_start,
  profiler_stop,
  context_reset,
  context_retain,
  context_release,  // destroys the context if it was the last owner: see primary_contexts
  stream_capture_begin,
  stream_capture_end,
  graph_build,      // makes a graph that is not executable yet
  graph_condition,  // makes the handle of a conditional node
  graph_instantiation,
  graph_change,
  graph_end,
  code_unload
};

/// One per process, never destroyed: CUPTI may call late.
class launch_callbacks {
 public:
  explicit launch_callbacks(cuda_event_observer& observer,
                            kernel_names& kernels = kernels_by_pointer()) noexcept
      : observer_(observer), kernels_(kernels) {}

  /// Finds the driver calls of interest in the loaded CUPTI by their names, once.
  void learn_calls(cupti_api const& api);
  call_class class_of(std::uint32_t driver_cbid) const noexcept {
    return driver_cbid < classes_.size() ? classes_[driver_cbid] : call_class::none;
  }

  /// Blocking calls are noted while cupti_tracer has their callbacks on, and recorded only after
  /// record(true).
  blocking_calls& calls_that_block() noexcept { return blocking_calls_; }
  blocking_calls const& calls_that_block() const noexcept { return blocking_calls_; }

  /// The gate is used from now on; it must live as long as the process.
  void place_gate(launch_gate& gate) noexcept { gate_.store(&gate, std::memory_order_release); }
  bool has_gate() const noexcept { return gate_.load(std::memory_order_acquire) != nullptr; }

  /// Sets what chooses the level of each graph launch. It must live as long as the process.
  void place_graph_level(graph_level& level) noexcept {
    graph_level_.store(&level, std::memory_order_release);
  }

  /// Must be called before CUPTI is attached, or loaded modules are not reported. `observer` must
  /// live as long as the process.
  void place_code_observer(code_observer& observer) noexcept {
    code_observer_.store(&observer, std::memory_order_release);
  }
  bool has_code_observer() const noexcept {
    return code_observer_.load(std::memory_order_acquire) != nullptr;
  }

  /// Launch filters on or off; set while no launches are recorded.
  void ask_observer(bool on) noexcept { ask_observer_.store(on, std::memory_order_relaxed); }
  /// The next driver call that ends, on any thread, calls observer.leave_cupti(). CUPTI's manual
  /// names this as the place for cuptiFinalize.
  void leave_at_next_call(bool on) noexcept { leave_.store(on, std::memory_order_release); }

  /// CUPTI is attached again: calls until now were not seen.
  void forget_calls() noexcept {
    primary_contexts_.forget();
    switches_.forget_changes();
  }
  /// Code that switches something in CUPTI must hold this guard.
  switch_guard& switches() noexcept { return switches_; }
  /// Sets the function that tells whether a primary context is active. Without it, each release
  /// that was not preceded by a retain is taken for the last one.
  void ask_of_primary_contexts(primary_contexts::question is_active) noexcept {
    primary_contexts_.ask(is_active);
  }

  /// The CUpti_CallbackFunc; `self` is the launch_callbacks.
  static void CUPTIAPI entry(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             void const* data) noexcept;

 private:
  void resource_event(CUpti_CallbackId id, CUpti_ResourceData const& resource) noexcept;
  void driver_call(CUpti_CallbackId id, CUpti_CallbackData const& call) noexcept;
  std::uint8_t flags_of(call_class what, CUpti_CallbackData const& call) noexcept;
  void launch_ended(call_class what, CUpti_CallbackData const& call, launch_gate* gate) noexcept;
  void note_retain(CUpti_CallbackData const& call) noexcept;
  bool is_taken_for_an_end(CUpti_CallbackData const& release) noexcept;
  void code_goes(CUpti_CallbackData const& call) noexcept;
  void note_graph(CUpti_CallbackIdResource id, CUpti_ResourceData const& resource) noexcept;
  void note_graph_node(CUpti_CallbackId id, CUpti_ResourceData const& resource) noexcept;
  void note_graph_call(call_class what, CUpti_CallbackId id,
                       CUpti_CallbackData const& call) noexcept;
  void choose_graph_level(graph_level& level, call_class what,
                          CUpti_CallbackData const& call) noexcept;
  void tell_gate(launch_gate& gate, CUpti_CallbackId id, CUpti_CallbackData const& call) noexcept;

  cuda_event_observer& observer_;
  kernel_names& kernels_;
  std::array<call_class, 1024> classes_{};
  blocking_calls blocking_calls_;
  std::array<launch_call_kind, 1024> launch_calls_{};
  std::array<stream_place, 1024> stream_places_{};
  std::atomic<launch_gate*> gate_{nullptr};
  std::atomic<graph_level*> graph_level_{nullptr};
  std::atomic<code_observer*> code_observer_{nullptr};
  std::atomic<bool> ask_observer_{false};
  std::atomic<bool> leave_{false};
  decltype(cupti_api::cuptiGetGraphNodeId) id_of_node_ = nullptr;
  primary_contexts primary_contexts_;
  switch_guard switches_;
};

/// Returns how a driver function, by its CUPTI name (as in "cuMemcpyHtoDAsync_v2_ptsz"), is
/// handled.
call_class classify_driver_call(char const* name) noexcept;

}  // namespace gpuprof::guest

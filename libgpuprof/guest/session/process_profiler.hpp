// SPDX-License-Identifier: Apache-2.0
// The profiler of this process: reacts to events of the program and switches captures on and off.
// It is the only object that knows all others.
#pragma once

#include "base/memory_budget.hpp"
#include "guest/collect/cupti_tracer.hpp"
#include "guest/collect/launch_callbacks.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/options/capture_plan.hpp"
#include "guest/options/kernel_filter.hpp"
#include "guest/options/settings.hpp"
#include "guest/recording/counter_worker.hpp"
#include "guest/recording/drain.hpp"
#include "guest/session/api_outcome.hpp"
#include "guest/session/other_client.hpp"
#include "guest/session/range_trigger.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unistd.h>

namespace gpuprof::guest {

/// Can be used on any thread. Made on first use and never destroyed, because callbacks may come as
/// long as the process lives.
class process_profiler final : public cuda_event_observer,
                               public range_observer,
                               public code_observer {
 public:
  static process_profiler& get();
  /// Returns the profiler if get() was called before, else null. Never makes one.
  static process_profiler* existing() noexcept;

  /// CUDA is being initialized (InitializeInjection).
  void cuda_initialized();
  /// Called at the program's first NVTX call. Thread logs are ready when this returns.
  void nvtx_used();

  // The C API.
  /// `output` is the name of the capture file, for the first capture of the process. If empty, the
  /// settings decide.
  api_outcome start(std::string const& output);
  api_outcome stop();
  api_outcome flush();
  void step();
  live_snapshot totals() {
    is_watched_.store(true);
    return drain_.totals().snapshot();
  }
  /// Returns null if no counters are read.
  live_metrics* achieved() noexcept {
    is_watched_.store(true);
    return drain_.achieved();
  }
  named_counters counters() const { return drain_.counters(); }
  std::string capture_path() const { return drain_.path(); }
  /// True if a capture is running or has run in this process.
  bool has_captured() const noexcept { return captured_.load(); }
  /// True if something is being or has been captured, and the process is not exiting.
  bool active() const noexcept { return begun_.load() && !shut_down_.load(); }
  /// True if NVTX calls are needed: ranges are recorded, start captures or count steps.
  bool wants_nvtx() const noexcept { return settings_.trace.nvtx || capture_range_ || step_range_; }
  bool capturing() const noexcept { return open_window_.load(std::memory_order_relaxed) != 0; }

  /// Ends all captures and writes the file. Takes at most flush_timeout_ms plus one second.
  void shut_down() noexcept;

 private:
  process_profiler();
  void end_counters() noexcept;
  /// Called in a child made by fork(), where NVTX is already attached.
  static void nvtx_used_in_child() noexcept;
  void say_why_nothing_was_recorded();

  void profiler_start() noexcept override;
  void profiler_stop() noexcept override;
  void context_ending() noexcept override;
  void cupti_failed(CUptiResult code, char const* message) noexcept override;
  void leave_cupti() noexcept override;
  bool is_selected(char const* kernel) noexcept override;

  void code_loaded(std::span<std::uint8_t const> image) noexcept override {
    launching_.add_module(image);
    if (counters_ == nullptr) return;
    using enum code_inventory::origin;
    code_.add_module(image, counters_->reads_launches() ? maybe_rewritten : program);
  }

  void on_push(name_id name, name_id domain) noexcept override;
  void on_pop(name_id name, name_id domain) noexcept override;
  void on_start(name_id name, name_id domain) noexcept override { on_push(name, domain); }
  void on_end(name_id name, name_id domain) noexcept override { on_pop(name, domain); }

  /// Passes an event to the plan and then follows the plan.
  template <class Event>
  void tell_plan(Event&& event) noexcept;
  /// Does the same. The caller allows exceptions and has prepared its thread.
  template <class Event>
  void change_plan(Event&& event);
  api_outcome write_all();
  std::string why_not_capturing() const;
  void tick(std::uint64_t moment) noexcept;
  void count_step() noexcept;
  void begin();
  void end_with_process();

  // Defined in profiler_switching.cpp, like leave_cupti().
  bool begin_to_act() noexcept;
  void follow_plan() noexcept;
  void take_one_step(bool& more);
  void open_window(std::uint32_t index, std::string trigger);
  void close_window();
  void switch_tracing_on();
  bool make_tracer();
  void say_tracing_is_off(std::string const& why);

  // Defined in profiler_thread.cpp. All but the first run on the drain thread.
  void start_drain_thread();
  void drain_main() noexcept;
  void start_what_waited_for_cuda();
  void end_without_file();
  bool rest_if_nothing_runs();
  std::uint64_t until_deadline(std::uint64_t max_ns);
  void switch_nothing_after_exit();

  /// Maximum time to wait for the last records of a capture.
  std::uint64_t patience_ns() const noexcept {
    return std::uint64_t{settings_.flush_timeout_ms} * 1'000'000;
  }

  settings settings_;
  memory_budget budget_;
  std::unique_ptr<kernel_filter> filter_;
  app_costs costs_;
  drain drain_;
  launch_callbacks callbacks_;
  code_inventory code_;
  launching_kernels launching_;
  std::optional<range_trigger> capture_range_, step_range_;
  name_id const own_domain_;  // 0 if there is no step_range_
  std::atomic<int> capture_range_depth_{0};

  std::mutex plan_mutex_;  // protects plan_; held only for its computations
  capture_plan plan_;

  // Only the thread that holds `acting_` may use the members below, up to the empty line, and call
  // the tracer. Other threads set `look_again_` and continue.
  std::atomic_flag acting_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> look_again_{false};
  std::unique_ptr<cupti_tracer> tracer_;
  std::unique_ptr<counter_worker> counters_;  // null if no counters are requested
  bool no_tracer_ = false;                    // CUPTI could not be loaded; not tried again
  bool tracing_ = false;
  bool leaving_ = false;
  std::string reason_tracing_is_off_;  // the last reason printed
  std::uint64_t idle_since_ = 0;

  bool asked_to_end_ = false;  // used by the drain thread only
  std::atomic<unsigned> times_switched_{0};

  std::atomic<std::uint32_t> open_window_{0};  // index of the window being recorded; 0: none
  int const owner_ = getpid();
  other_client other_client_{costs_, [this] { return capturing(); }};
  std::atomic<bool> cuda_up_{false};
  std::atomic<bool> captured_{false};
  std::atomic<bool> given_up_{false};          // CUPTI has shut itself down for good
  std::atomic<bool> asked_by_program_{false};  // the program called gpuprof_start()
  std::atomic<bool> is_watched_{false};        // the program reads live totals or metrics
  std::atomic<bool> begun_{false};
  std::atomic<bool> thread_started_{false};
  std::atomic<int> thread_error_{0};  // the system's error if the drain thread could not be started
  std::atomic<bool> shut_down_{false};
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// The profiler of this process: reacts to events of the program. It is the only object that
// knows all others.
#pragma once

#include "base/memory_budget.hpp"
#include "guest/collect/launch_callbacks.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/nvtx/ranges.hpp"
#include "guest/options/kernel_filter.hpp"
#include "guest/options/settings.hpp"
#include "guest/recording/drain.hpp"
#include "guest/session/api_outcome.hpp"
#include "guest/session/capture_switch.hpp"
#include "guest/session/drain_thread.hpp"
#include "guest/session/tracing_switch.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace gpuprof::guest {

/// Recognizes the NVTX range that starts a capture or ends a step. Compares name ids, which takes
/// almost no time.
struct range_trigger {
  name_id name{}, domain{};
  bool any_domain = false;
  name_id shown_name{}, shown_domain{};  // of "domain:name", as in reports; 0 for other names

  bool matches(name_id n, name_id d) const noexcept {
    return (n == name && (any_domain || d == domain)) ||
           (n == shown_name && d == shown_domain && raw(n) != 0);
  }
};

/// Can be used on any thread. Made on first use and never destroyed, because callbacks may come as
/// long as the process lives.
class process_profiler final : public cuda_event_observer, public range_observer {
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
    thread_.keep_live_totals();
    return drain_.totals().snapshot();
  }
  bool reads_counters() const noexcept { return settings_.metrics.mode != metrics_mode::none; }
  /// See drain::written_until().
  timestamp_ns written_until() const noexcept { return drain_.written_until(); }
  named_counters counters() const { return drain_.counters(); }
  std::string capture_path() const { return drain_.path(); }
  /// True if a capture is running or has run in this process.
  bool has_captured() const noexcept { return switch_.has_captured(); }
  /// True if something is being or has been captured, and the process is not exiting.
  bool active() const noexcept { return begun_.load() && !shut_down_.load(); }
  /// True if NVTX calls are needed: ranges are recorded, start captures or count steps.
  bool wants_nvtx() const noexcept { return settings_.trace.nvtx || capture_range_ || step_range_; }
  bool capturing() const noexcept { return switch_.capturing(); }

  /// Ends all captures and writes the file. Takes at most flush_timeout_ms plus one second.
  void shut_down() noexcept;

 private:
  process_profiler();
  /// Called in a child made by fork(), where NVTX is already attached.
  static void nvtx_used_in_child() noexcept;
  void say_why_nothing_was_recorded();

  void profiler_start() noexcept override;
  void profiler_stop() noexcept override;
  void context_ending() noexcept override;
  void cupti_failed(CUptiResult code, char const* message) noexcept override;
  void leave_cupti() noexcept override;
  bool is_selected(char const* kernel) noexcept override;

  void on_push(name_id name, name_id domain) noexcept override;
  void on_pop(name_id name, name_id domain) noexcept override;
  void on_start(name_id name, name_id domain) noexcept override { on_push(name, domain); }
  void on_end(name_id name, name_id domain) noexcept override { on_pop(name, domain); }

  api_outcome write_all();
  std::string why_not_capturing() const;
  void count_step() noexcept;
  void begin();
  void end_with_process();

  // Exit handlers.
  static void end_counters() noexcept;
  static void close_switches() noexcept;

  /// False in a child process, however it was made.
  bool is_mine() const noexcept;

  settings settings_;
  memory_budget budget_;
  std::unique_ptr<kernel_filter> filter_;
  app_costs costs_;
  drain drain_;
  launch_callbacks callbacks_;
  tracing_switch tracing_;
  capture_switch switch_;
  drain_thread thread_;
  std::optional<range_trigger> capture_range_, step_range_;
  name_id const own_domain_;  // 0 if there is no step_range_
  std::atomic<int> capture_range_depth_{0};

  int const owner_ = getpid();
  std::atomic<bool> begun_{false};
  std::atomic<bool> shut_down_{false};
};

}  // namespace gpuprof::guest

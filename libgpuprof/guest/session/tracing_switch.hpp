// SPDX-License-Identifier: Apache-2.0
// Switches CUPTI's tracing on and off and leaves CUPTI. Holds everything that is made when CUPTI is
// used for the first time.
#pragma once

#include "base/memory_budget.hpp"
#include "guest/collect/cupti_tracer.hpp"
#include "guest/collect/launch_callbacks.hpp"
#include "guest/options/settings.hpp"
#include "guest/recording/counter_worker.hpp"
#include "guest/recording/drain.hpp"
#include "guest/session/other_client.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// Handlers that run when the process exits. They get no argument, so they find their object
/// themselves.
struct exit_handlers {
  void (*end_counters)();
  void (*close_switches)();
};

/// One per process, never destroyed. Everything that it is made from must live as long.
class tracing_switch final : public code_observer {
 public:
  tracing_switch(settings const& options, memory_budget& budget, drain& recording,
                 launch_callbacks& callbacks, app_costs& costs, std::function<bool()> is_capturing,
                 exit_handlers at_exit);

  // Only the thread that switches captures may call these functions.
  bool is_on() const noexcept { return is_on_; }
  /// `capturing`: a capture runs already.
  void switch_on(bool capturing);
  /// Takes the last records and switches tracing off. Does nothing while a launch is being read,
  /// unless `forced`. Called on the drain thread.
  void switch_off(bool forced);
  /// Asks CUPTI for calls of cudaProfilerStart.
  void listen_to_profiler_calls();
  /// Starts what must not be started while cuInit runs, and looks for PyTorch, now and then, if it
  /// was not loaded before.
  void start_the_rest(std::vector<std::string>& warnings);
  void window_opened() noexcept;
  /// CUPTI is left at the end of the program's next driver call. Returns false if counters prevent
  /// that, and this must be tried again. Call when tracing is off.
  bool prepare_to_leave();
  /// Leaves CUPTI if prepare_to_leave() was called and tracing is still off. Called at the end of a
  /// driver call.
  void leave() noexcept;
  /// Call before the others when cupti_failed() may have been called.
  void note_failure() noexcept;

  // Any thread may call these functions.
  /// False if start_the_rest() has nothing to do.
  bool has_a_rest() const noexcept { return settings_.trace.um || look_for_torch_at_.load() != 0; }
  bool cuda_is_initialized() const noexcept { return cuda_up_.load(); }
  void cuda_initialized() noexcept { cuda_up_.store(true, std::memory_order_release); }
  /// The program has called gpuprof_start().
  void asked_by_program() noexcept { asked_by_program_.store(true); }
  void pause_counters() noexcept;
  /// Ends counters before the libraries that they use are torn down.
  void end_counters() noexcept;
  /// Fetches the records that CUPTI has.
  void flush() noexcept;
  /// CUPTI has shut itself down.
  void cupti_failed(CUptiResult code, char const* message) noexcept;
  void code_loaded(std::span<std::uint8_t const> image) noexcept override;

 private:
  bool make_tracer();
  void begin_stacks(std::vector<std::string>& warnings);
  void begin_operators(std::vector<std::string>& warnings);
  void say_tracing_is_off(std::string const& why);
  void switch_nothing_after_exit();

  settings const& settings_;
  memory_budget& budget_;
  drain& drain_;
  launch_callbacks& callbacks_;
  app_costs& costs_;
  exit_handlers const at_exit_;
  other_client other_client_;
  code_inventory code_;
  launching_kernels launching_;

  std::unique_ptr<cupti_tracer> tracer_;
  std::unique_ptr<counter_worker> counters_;  // null if no counters are requested
  bool stacks_refused_ = false;               // which was said
  bool operators_refused_ = false;            // which was said
  bool no_tracer_ = false;                    // CUPTI could not be loaded; not tried again
  bool is_on_ = false;
  bool leaving_ = false;
  std::string reason_tracing_is_off_;  // the last reason printed
  unsigned times_switched_ = 0;
  std::atomic<std::uint64_t> look_for_torch_at_{0};  // on the monotonic clock; 0: not any more

  std::atomic<bool> cuda_up_{false};
  std::atomic<bool> asked_by_program_{false};
  std::atomic<bool> given_up_{false};  // CUPTI has shut itself down for good
};

}  // namespace gpuprof::guest

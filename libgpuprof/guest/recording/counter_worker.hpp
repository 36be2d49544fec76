// SPDX-License-Identifier: Apache-2.0
// The thread that runs the engines of the hardware counters.
#pragma once

#include "guest/collect/cupti_tracer.hpp"
#include "guest/counters/counter_engines.hpp"
#include "guest/metrics/inventory/code_inventory.hpp"
#include "guest/options/kernel_filter.hpp"
#include "guest/options/settings.hpp"
#include "model/record_sink.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace gpuprof::guest {

/// One per process, never destroyed. Not part of the drain thread, because the first start of an
/// engine takes a third of a second, in which rings would overflow.
class counter_worker final : public record_sink {
 public:
  /// Returns null if the settings ask for no counters. `tracer` and `code` must live as long as the
  /// process. `capture_path` can be called on any thread and is empty while there is no file.
  /// `end_at_exit` is registered as an exit handler several times; it must call finish().
  static std::unique_ptr<counter_worker> make(settings const& options, cupti_tracer& tracer,
                                              code_inventory const& code,
                                              std::function<std::string()> capture_path,
                                              void (*end_at_exit)());

  // Called by the thread that switches captures.
  void resume() noexcept;
  void pause() noexcept;

  /// Returns the results so far. Can be called on any thread.
  counter_results take();
  enum class ending {
    capture,  // the results in the counters are taken
    leaving,  // also releases the engines, because CUPTI will be left
    process   // like `leaving`, but the thread then sleeps forever and nothing more is counted
  };
  /// Call after pause(). Returns false if `timeout_ms` passed first.
  bool finish(ending what, std::uint32_t timeout_ms);
  /// True if nothing has been counted since the last capture ended.
  bool is_idle() const noexcept { return !thread_started_.load() || engines_.is_idle(); }
  /// Call when callbacks have just been enabled.
  void callbacks_begin() noexcept { engines_.passage().callbacks_begin(); }
  /// Returns the gate around the program's launches.
  launch_gate& gate() noexcept { return engines_.passage(); }
  /// Call when CUPTI has shut itself down. It is not called any more.
  void abandon() noexcept { engines_.abandon(); }
  using record_sink::add;
  /// The run time of kernels decides which are worth reading. Called by the thread that reads
  /// kernel records.
  void add(std::span<kernel_record const> kernels) override {
    for (auto const& kernel : kernels) engines_.ran(kernel);
  }
  /// True while launches are read: a module that is loaded now may be one that CUPTI has rewritten.
  bool reads_launches() const noexcept { return engines_.reads_launches(); }
  /// True if a launch never returned: CUPTI must not be left then.
  bool is_stuck() const noexcept { return engines_.launch_counts().abandoned.load() != 0; }

  counter_engines const& engines() const noexcept { return engines_; }

 private:
  counter_worker(settings const& options, cupti_tracer& tracer, code_inventory const& code,
                 cuda_driver driver, std::unique_ptr<kernel_filter> skipped,
                 std::function<std::string()> capture_path, void (*end_at_exit)());
  void main() noexcept;
  std::uint64_t turn(bool closing, ending what);
  void wake() noexcept;
  void release_gpus() noexcept;

  cuda_driver const driver_;
  std::unique_ptr<kernel_filter> const skipped_;
  availability_store const stored_;
  device_turns device_turns_;
  void (*const end_at_exit_)();
  main_thread_end main_thread_end_;
  counter_engines engines_;
  std::uint64_t turns_ = 0;  // used only by the counter thread
  std::atomic<bool> thread_started_{false};
  std::atomic<bool> process_ends_{false};

  std::mutex mutex_;  // protects everything below; never held while CUPTI is called
  std::condition_variable changed_;
  counter_results results_;
  std::uint64_t finish_wanted_ = 0, finish_done_ = 0;
  bool woken_ = false;
  ending ending_ = ending::capture;
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// The thread on which the engines of the hardware counters take their turns.
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

/// One per process, never destroyed. Not on the drain thread: the first switching on takes a third
/// of a second, in which rings would run over.
class counter_worker final : public record_sink {
 public:
  /// Null when the settings ask for no counters. `tracer` and `code` must live as long as the
  /// process. `capture_path`: any thread; empty while there is none. `end_at_exit` becomes an
  /// exit handler, several times over: it has to finish() this.
  static std::unique_ptr<counter_worker> make(settings const& options, cupti_tracer& tracer,
                                              code_inventory const& code,
                                              std::function<std::string()> capture_path,
                                              void (*end_at_exit)());

  // Whoever switches captures.
  void resume() noexcept;
  void pause() noexcept;

  /// Any thread: what has come so far.
  counter_results take();
  enum class ending {
    capture,  // what is in the counters is taken
    leaving,  // and they are released: CUPTI is going to be left
    process   // as leaving; the thread sleeps from then on, and nothing is counted again
  };
  /// After pause(). False when `timeout_ms` passed first.
  bool finish(ending what, std::uint32_t timeout_ms);
  /// Nothing is counted since the last capture ended.
  bool is_idle() const noexcept { return !thread_started_.load() || engines_.is_idle(); }
  /// Callbacks were off until now.
  void callbacks_begin() noexcept { engines_.passage().callbacks_begin(); }
  /// What is to stand around the program's launches.
  launch_gate& gate() noexcept { return engines_.passage(); }
  /// CUPTI has shut itself down: it is not called any more.
  void abandon() noexcept { engines_.abandon(); }
  using record_sink::add;
  /// How long kernels ran says which are worth reading. The thread that reads kernel records.
  void add(std::span<kernel_record const> kernels) override {
    for (auto const& kernel : kernels) {
      auto const is_part = raw(kernel.graph) != 0;
      engines_.passage().ran(kernel.correlation, static_cast<std::uint64_t>(kernel.duration.value),
                             is_part);
    }
  }
  /// Launches are being read: what is loaded now may be what CUPTI has rewritten.
  bool reads_launches() const noexcept { return engines_.reads_launches(); }
  /// A launch never came back: CUPTI must not be left.
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
  std::uint64_t turns_ = 0;  // the thread alone
  std::atomic<bool> thread_started_{false};
  std::atomic<bool> process_ends_{false};

  std::mutex mutex_;  // protects the rest; never held while CUPTI is called
  std::condition_variable changed_;
  counter_results results_;
  std::uint64_t finish_wanted_ = 0, finish_done_ = 0;
  bool woken_ = false;
  ending ending_ = ending::capture;
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// The thread on which the engines of the hardware counters take their turns.
#pragma once

#include "collect/cupti_tracer.hpp"
#include "collect/launch_callbacks.hpp"
#include "counters/counter_engines.hpp"
#include "counters/inventory/code_inventory.hpp"
#include "model/record_sink.hpp"
#include "options/settings.hpp"
#include "plan/kernel_filter.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace gpuprof {

/// One per process, never destroyed. Not on the drain thread: the first switching on takes a third
/// of a second, in which rings would run over.
class counter_worker final : public launch_gate, public record_sink {
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
  void callbacks_begin() noexcept { engines_.callbacks_begin(); }
  /// CUPTI has shut itself down: it is not called any more.
  void abandon() noexcept { engines_.abandon(); }
  using record_sink::add;
  /// How long kernels ran says which are worth reading. The thread that reads kernel records.
  void add(std::span<kernel_record const> kernels) override {
    for (auto const& kernel : kernels) {
      auto const is_part = raw(kernel.graph) != 0;
      engines_.ran(kernel.correlation, static_cast<std::uint64_t>(kernel.duration.value), is_part);
    }
  }
  /// Launches are being read: what is loaded now may be what CUPTI has rewritten.
  bool reads_launches() const noexcept { return engines_.reads_launches(); }
  /// A launch never came back: CUPTI must not be left.
  bool is_stuck() const noexcept { return engines_.launch_counts().abandoned.load() != 0; }

  counter_engines const& engines() const noexcept { return engines_; }

  void entered(launch_call_kind kind, CUpti_CallbackData const& call) noexcept override {
    if (!knows_main_thread_.load(std::memory_order_relaxed)) look_for_main_thread();
    engines_.entered(kind, call);
  }
  launch_remark left(CUpti_CallbackData const& call, bool gets_record) noexcept override {
    return engines_.left(call, gets_record);
  }
  void work_entered(stream_place place, CUpti_CallbackData const& call) noexcept override {
    engines_.work_entered(place, call);
  }
  void work_left() noexcept override { engines_.work_left(); }
  void stream_capture_begins(CUstream stream) noexcept override { engines_.capture_begins(stream); }
  void stream_capture_ends(CUstream stream) noexcept override { engines_.capture_ends(stream); }
  void stream_ends(CUstream stream) noexcept override { engines_.stream_ends(stream); }
  void context_made(CUcontext context) noexcept override { engines_.context_made(context); }
  void work_waited_for() noexcept override { engines_.work_waited_for(); }
  void context_gone(CUcontext context) noexcept override { engines_.context_gone(context); }
  void context_waited_for(CUpti_CallbackData const& call) noexcept override {
    engines_.context_waited_for(call);
  }
  void graph_changes() noexcept override { engines_.graph_changes(); }
  void graph_ends(CUgraphExec graph) noexcept override { engines_.graph_ends(graph); }
  void code_unloads() noexcept override { engines_.code_unloads(); }
  void context_ending() noexcept override;
  void context_ended() noexcept override { engines_.context_ended(); }

 private:
  counter_worker(settings const& options, cupti_tracer& tracer, code_inventory const& code,
                 cuda_driver driver, std::unique_ptr<kernel_filter> skipped,
                 std::function<std::string()> capture_path, void (*end_at_exit)());
  void main() noexcept;
  std::uint64_t turn(bool closing, ending what);
  void wake() noexcept;
  void look_for_main_thread() noexcept;

  cuda_driver const driver_;
  std::unique_ptr<kernel_filter> const skipped_;
  availability_store const stored_;
  device_turns device_turns_;
  counter_engines engines_;
  void (*const end_at_exit_)();
  std::uint64_t turns_ = 0;  // the thread alone
  std::atomic<bool> knows_main_thread_{false};
  std::atomic<bool> thread_started_{false};
  std::atomic<bool> process_ends_{false};

  std::mutex mutex_;  // protects the rest; never held while CUPTI is called
  std::condition_variable changed_;
  counter_results results_;
  std::uint64_t finish_wanted_ = 0, finish_done_ = 0;
  bool woken_ = false;
  ending ending_ = ending::capture;
};

}  // namespace gpuprof

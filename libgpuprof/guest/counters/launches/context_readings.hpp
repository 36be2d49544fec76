// SPDX-License-Identifier: Apache-2.0
// The counters of one context: its range profiler, and the way of readings through its passes.
#pragma once

#include "guest/counters/device_turn.hpp"
#include "guest/counters/launches/context_streams.hpp"
#include "guest/counters/launches/prepared_counters.hpp"
#include "guest/counters/launches/range_profiler.hpp"
#include "guest/counters/launches/reading_cycle.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gpuprof::guest {

/// What was counted in a cycle, not evaluated yet.
struct reading_batch {
  cycle_group group;
  counted_ranges counted;
  std::vector<reading> readings;  // by number of their range
};

/// The worker's thread, but for what says otherwise. What calls CUPTI here waits for the GPU and
/// holds all launches: only while the context is known to be idle, and the gate is held.
class context_readings {
 public:
  context_readings(CUcontext context, context_id id, device_id device, cuda_driver const& driver)
      : streams(driver), context_(context), id_(id), device_(device) {}

  /// For another context, if this one has ended and nothing of it is left. Any thread; true for one
  /// of those that try at once. It is never destroyed: a call may still have a reference to it.
  bool begin_again(CUcontext context, context_id id, device_id device) noexcept;

  context_streams streams;  // any thread

  // Any thread.
  CUcontext handle() const noexcept { return context_.load(); }
  context_id id() const noexcept { return id_.load(); }
  device_id device() const noexcept { return device_.load(); }
  bool is(CUcontext context, std::uint32_t number) const noexcept {
    return raw(id()) == number && handle() == context;
  }
  bool has_ended() const noexcept { return life_.load() != life::lives; }
  void note_end() noexcept {
    auto lives = life::lives;
    life_.compare_exchange_strong(lives, life::ended);
  }

  /// `counters` outlives this object.
  void prepare(cupti_api const& api, prepared_counters const& counters, bool every_launch);
  bool is_prepared() const noexcept { return counters_ != nullptr; }
  /// Another thread may look at these two.
  bool holds_counters() const noexcept { return holds_counters_.load(); }
  bool is_counting() const noexcept { return is_counting_.load(); }

  /// Null: no cycle is on.
  reading_cycle* cycle() noexcept { return cycle_ ? &*cycle_ : nullptr; }
  /// Stopped in the midst of its passes it has to be set up anew.
  bool has_passes_left() const noexcept { return cycle_ && cycle_->group().passes > 1; }
  /// Of the cycle that is on.
  bool has_readings() const noexcept { return cycle_ && cycle_->has_readings(); }

  // With the gate held ---------------------------------------------------------
  /// A cycle through the first of these groups, or the one that is set up if it is among them.
  result<void> start(launch_signature::groups wanted, std::uint64_t now_ns);
  /// For as long as the counters are held.
  void keep(device_turn turn) noexcept { turn_ = std::move(turn); }
  bool push(std::size_t range, launch_signature& signature, timestamp_ns opened) noexcept;
  /// What was launched since push() has ended. True: its counters are kept.
  bool pop(bool is_kept, correlation_id correlation) noexcept;
  /// Of a launch that did not end in time: what it counted belongs to nobody.
  void drop_open_range() noexcept {
    if (open_) pop(false, {});
  }
  /// The next pass for which there is use; at the end of the cycle what was counted is in `done`.
  result<void> turn_pass(std::uint64_t now_ns, std::optional<reading_batch>& done);
  /// Before all passes were run: what is whole of it.
  result<void> finish(std::optional<reading_batch>& done);
  /// Releases the counters.
  void release() noexcept;

  /// The context is gone, or never idle: CUPTI is not asked any more.
  void abandon() noexcept;
  /// Once it has ended: nothing of it is left here.
  void leave() noexcept;

 private:
  result<void> take_counted(std::optional<reading_batch>& done);

  enum class life : std::uint8_t { lives, ended, left, begins };

  std::atomic<CUcontext> context_;
  std::atomic<context_id> id_;
  std::atomic<device_id> device_;
  std::atomic<life> life_{life::lives};
  std::atomic<bool> holds_counters_{false}, is_counting_{false};
  cupti_api const* api_ = nullptr;
  prepared_counters const* counters_ = nullptr;
  reading_cycle::limits limits_;
  std::unique_ptr<range_profiler> profiler_;
  prepared_group const* group_ = nullptr;  // what it is set up for
  range_setup setup_;
  std::optional<reading_cycle> cycle_;
  struct open_range {
    std::size_t number = 0;
    launch_signature* signature = nullptr;
    timestamp_ns opened;
  };
  std::optional<open_range> open_;
  device_turn turn_;  // among the processes that have this library
};

}  // namespace gpuprof::guest

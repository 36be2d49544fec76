// SPDX-License-Identifier: Apache-2.0
// Owns the counters of one context: its range profiler, and the passes of its readings.
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

/// Counts of a cycle, not evaluated yet.
struct reading_batch {
  cycle_group group;
  counted_ranges counted;
  std::vector<reading> readings;  // by number of the range
};

/// Used by the worker's thread only, unless noted. Functions that call CUPTI wait for the GPU and
/// block all launches: call them only while the context is known to be idle and the gate is held.
class context_readings {
 public:
  context_readings(CUcontext context, context_id id, device_id device, cuda_driver const& driver)
      : streams(driver), context_(context), id_(id), device_(device) {}

  /// Reuses this object for another context, if the old one has ended and leave() was called. Any
  /// thread; of several concurrent calls one returns true. The object is never destroyed, because a
  /// call may still have a reference to it.
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
  /// Other threads may read these two.
  bool holds_counters() const noexcept { return holds_counters_.load(); }
  bool is_counting() const noexcept { return is_counting_.load(); }

  /// Null if no cycle is running.
  reading_cycle* cycle() noexcept { return cycle_ ? &*cycle_ : nullptr; }
  /// True if a cycle with several passes is running: if it is stopped, it must be set up again.
  bool has_passes_left() const noexcept { return cycle_ && cycle_->group().passes > 1; }
  /// True if the running cycle has readings.
  bool has_readings() const noexcept { return cycle_ && cycle_->has_readings(); }

  // Call these with the gate held -----------------------------------------------
  /// Begins a cycle through the group that is set up, if it is among `wanted`, or else through the
  /// first group in `wanted`.
  result<void> start(launch_signature::groups wanted, std::uint64_t now_ns);
  /// Keeps `turn` as long as the counters are held.
  void keep(device_turn turn) noexcept { turn_ = std::move(turn); }
  bool push(std::size_t range, launch_signature& signature, timestamp_ns opened) noexcept;
  /// Call it when the work launched since push() has ended. Returns true if its counters are kept.
  bool pop(bool is_kept, correlation_id correlation) noexcept;
  /// For a launch that did not end in time: what was counted is not used.
  void drop_open_range() noexcept {
    if (open_) pop(false, {});
  }
  /// Goes on to the next useful pass. At the end of the cycle `done` is set to what was counted.
  result<void> turn_pass(std::uint64_t now_ns, std::optional<reading_batch>& done);
  /// Ends a cycle before all its passes were run; `done` gets the complete readings.
  result<void> finish(std::optional<reading_batch>& done);
  /// Releases the counters.
  void release() noexcept;

  /// The context has ended or never becomes idle: CUPTI is not called for it any more.
  void abandon() noexcept;
  /// Call it when the context has ended: resets this object.
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
  prepared_group const* group_ = nullptr;  // the group that profiler_ is set up for
  range_setup setup_;
  std::optional<reading_cycle> cycle_;
  struct open_range {
    std::size_t number = 0;
    launch_signature* signature = nullptr;
    timestamp_ns opened;
  };
  std::optional<open_range> open_;
  device_turn turn_;  // among processes with this library
};

}  // namespace gpuprof::guest

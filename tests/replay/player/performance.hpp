// SPDX-License-Identifier: Apache-2.0
// Plays a timeline: the recorded threads make the recorded calls at the recorded times.
#pragma once

#include "replay/driver/tool_hooks.hpp"
#include "replay/format/recording.hpp"
#include "replay/player/gpu_clock.hpp"
#include "replay/player/launch_arguments.hpp"
#include "replay/player/nvtx_player.hpp"
#include "replay/player/refused_calls.hpp"
#include "replay/player/timeline.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <unordered_map>

namespace gpuprof::replay {

struct play_options {
  double speed = 1;  // waits between calls are divided by this; work on the GPU keeps its length
  unsigned repeat = 1;
  /// Runs once on the main thread when this share of the session (0 to 1) has been played.
  std::function<void()> interrupt;
  double interrupt_at = 1;
};

/// How much was played.
struct play_counts {
  std::atomic<std::uint64_t> calls{0}, launches{0}, kernels{0}, gpu_records{0};
};

class performance {
 public:
  /// The functions of the fake driver; `tool` may be null until a tool attaches.
  struct driver {
    get_tool_function tool = nullptr;
    busy_until_function busy_until = nullptr;
    capturing_function capturing = nullptr;
    int (*synchronize)() = nullptr;  // cuCtxSynchronize
  };

  performance(recording& r, driver d, play_options options);

  void run();

  /// What cudaDeviceReset does: waits for the GPU, destroys the context, makes a new one.
  void reset_device();

  gpu_clock& gpu() { return gpu_; }
  play_counts const& counts() const { return counts_; }
  nvtx_player const& nvtx() const { return nvtx_; }

 private:
  struct call_under_way {
    std::uint64_t entered_now = 0;
    std::uint64_t correlation_data = 0;
    launch_arguments arguments;
    void const* parameters = nullptr;
  };
  struct calls_under_way : std::unordered_map<std::uint32_t, call_under_way> {
    refused_calls refused;
  };

  void run_once(bool last_time);
  void play_thread(std::size_t index, bool may_interrupt);
  void wait_until(std::uint64_t recorded) const;
  void play_call(action const&, calls_under_way&);
  void refuse_one(driver_call const& launch, refused_calls&);
  void play_resource(event const&) const;
  void emit(std::size_t record, std::uint64_t entered, std::uint64_t entered_now);
  void count(event const&);
  void find_first_kernels();
  void note_capture(event const&) const;
  std::uint32_t context_now(std::uint32_t recorded) const {
    return recorded == 0 ? 0 : recorded + context_shift_;
  }
  void const* parameters_of(event const&, launch_arguments&) const;

  recording& r_;
  driver const driver_;
  play_options const options_;
  timeline const timeline_;
  // Records by correlation id.
  std::unordered_map<std::uint32_t, std::size_t> first_kernels_, first_copies_;
  gpu_clock gpu_;
  nvtx_player nvtx_;
  play_counts counts_;
  std::uint64_t began_ = 0;  // when this turn began, of CLOCK_REALTIME
  std::uint32_t turn_ = 0;
  std::uint32_t correlation_shift_ = 0;
  std::atomic<std::uint32_t> context_shift_{0};  // contexts get new ids when the device is reset
  std::uint32_t const first_correlation_;
  std::atomic<std::uint32_t> spare_correlation_;  // ids from here on belong to no recorded call
};

std::uint64_t realtime_ns();

}  // namespace gpuprof::replay
